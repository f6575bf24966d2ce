// Reverse mode through one statement: from the gradient of its result to those of the arrays that it reads.
#pragma once

#include <functional>

#include "grad/algebra.hpp"

namespace napkin::grad {

// Sums a product over wires: where more of the diagram is known than the algebra, better than it.
using Summing = std::function<Sum(const std::vector<WireId>&, const Product&)>;

// A statement of its own, with its name and the wires of its array.
using Storing = std::function<ArrayId(const std::string&, const std::vector<WireId>&, const Sum&)>;

struct Terms {
  Product product;
  std::vector<WireId> over;  // what it is summed over
};

struct Reverse {
  Algebra& algebra;
  const std::set<ArrayId>& active;  // whose gradients matter
  Summing summed;
  Storing stored;
  std::map<ArrayId, Terms> laid{};  // what was stored to be read at other places
  std::set<AxisId> measured{};      // axes that must keep their sizes, which decide where arrays are read

  // `cotangent` is of the statement's result, over the wires of its array. What the arrays receive adds to `to`.
  void through(const Statement&, const Sum& cotangent, std::map<ArrayId, Sum>& to);
};

}  // namespace napkin::grad
