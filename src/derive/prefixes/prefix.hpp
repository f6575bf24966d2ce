// One reduction over x of what lies before a kept position t, taken apart into what depends on each of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// The condition between a reduced wire and a kept one: `x <= t + offset`, or for a suffix `x >= t + offset`. Chunks of
// the two end at the same places only without an offset.
struct PrefixEdge {
  ExprId condition;
  WireId reduced, kept;
  bool before = true;  // x lies before t + offset
  bool with = true;    // and may be equal to it
  std::int64_t offset = 0;
};

// The first such condition of a choice in what is reduced; one without an offset, if there is any.
std::optional<PrefixEdge> prefix_edge(const Diagram&, const Reduce&);

// What is reduced: for sums the product of all factors times exp(of_kept) * exp(of_reduced), summed over `inner` as
// well; for other reductions of_kept + of_reduced, or the one factor. What the guards leave out counts nothing. An
// exponent also has c * (t - x) for each c of `slopes`: far along the wires the two products would be large, and their
// difference lose its digits, so that it is never taken apart there.
struct Separated {
  struct Side {
    std::vector<ExprId> factors, divisors, exponents, guards;
  };
  PrefixEdge edge;
  Side kept, reduced;
  std::vector<ExprId> slopes;              // they depend on neither
  std::vector<WireId> inner;               // sums over these wires mix both sides
  const Pointwise* exponential = nullptr;  // of the exponents
};
struct Inseparable {
  PrefixEdge edge;
  ExprId part;  // it depends on both and does not come apart
  std::string reason;
};
// Nothing (the monostate) where no condition makes the reduction one of a prefix or a suffix.
using Separation = std::variant<std::monostate, Separated, Inseparable>;
Separation separate_prefix(Diagram&, const Reduce&);

}  // namespace napkin
