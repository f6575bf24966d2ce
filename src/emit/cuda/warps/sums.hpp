// What the instructions of products accumulate in: the sums themselves, or partial sums with fewer bits, which are
// promoted, that is, added to the sums in f32 after some products.
#pragma once

#include <map>
#include <string>

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

class SumPrinter {
 public:
  explicit SumPrinter(FragmentStatements& statements) : statements_(statements) {}

  // Declares partial sums, all of them 0, and sets them to 0 again.
  void declare(const Product&);
  void clear(const Product&);
  // Adds partial sums to the sums; prints nothing for a product without them.
  void promote(const Product&);
  // The array that the product's instructions accumulate in.
  std::string accumulators(const Product&) const;

 private:
  FragmentStatements& statements_;
  std::map<const Compute*, std::string> partial_;
};

}  // namespace napkin
