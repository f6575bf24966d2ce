// A reduction over the positions x before a kept position t, separated into what depends on x and what depends on t.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// The condition between a reduced wire x and a kept wire t: `x <= t + offset`, or for a suffix `x >= t + offset`.
// Chunks of the two wires end at the same positions only if there is no offset.
struct PrefixEdge {
  ExprId condition;
  WireId reduced, kept;
  bool before = true;  // x lies before t + offset
  bool with = true;    // x may equal t + offset
  std::int64_t offset = 0;
};

// The first such condition of a choice in the reduced expression, preferably one without an offset.
std::optional<PrefixEdge> prefix_edge(const Diagram&, const Reduce&);

// The reduced expression: for sums the product of all factors times exp(of_kept) * exp(of_reduced), summed over `inner`
// as well; for other reductions of_kept + of_reduced, or the only factor. Positions excluded by the guards count for
// nothing. An exponent also contains c * (t - x) for each c of `slopes`. Far along the wires c * t and c * x would be
// large and their difference would lose its digits, so this product is not separated there.
struct Separated {
  struct Side {
    std::vector<ExprId> factors, divisors, exponents, guards;
  };
  PrefixEdge edge;
  Side kept, reduced;
  std::vector<ExprId> slopes;              // each depends on neither wire
  std::vector<WireId> inner;               // sums over these wires mix both sides
  const Pointwise* exponential = nullptr;  // the function applied to the exponents
};
struct Inseparable {
  PrefixEdge edge;
  ExprId part;  // the part that depends on both wires and does not separate
  std::string reason;
};
// The monostate if no condition makes the reduction one of a prefix or a suffix.
using Separation = std::variant<std::monostate, Separated, Inseparable>;
Separation separate_prefix(Diagram&, const Reduce&);

}  // namespace napkin
