// The orders in which many factors are contracted, two at a time, as in einsum: the ones worth considering.
#pragma once

#include <cstdint>
#include <vector>

namespace napkin::orders {

using FactorSet = std::uint32_t;  // a set of factors, one bit each
using WireSet = std::uint64_t;    // a set of the wires of a network, one bit each

constexpr std::size_t most_factors = 32, most_wires = 64;

struct Problem {
  std::vector<WireSet> factors;     // by factor: the wires that it varies along
  WireSet kept = 0;                 // all other wires are summed
  std::vector<double> sizes;        // by wire
  std::vector<FactorSet> existing;  // products, summed as far as possible, that need not be computed
};

// A product of factors, summed over all wires that no other factor has. `left` and `right` are the nodes that it
// multiplies; -1 for a single factor and for a product that exists.
struct Node {
  FactorSet factors = 0;
  int left = -1, right = -1;
};
struct Order {
  std::vector<Node> nodes;            // operands first; the last node is the whole
  double operations = 0, values = 0;  // multiplications and additions; stored values of all nodes between
};

// The wires that remain after a product is summed as far as possible.
WireSet left_of(const Problem&, FactorSet);
// The wires that are summed when two products are multiplied, or in a single factor.
WireSet summed_at(const Problem&, const Order&, const Node&);
double positions(const Problem&, WireSet);

// At most four orders, none of which is worse than another in both operations and values, the fewest operations first.
// All orders are tried for up to ten factors; for more, each step takes the product that grows the least.
std::vector<Order> contraction_orders(const Problem&);

}  // namespace napkin::orders
