// The orders in which many factors are contracted, two at a time, as in einsum: which of them are worth a look.
#pragma once

#include <cstdint>
#include <vector>

namespace napkin::orders {

using FactorSet = std::uint32_t;  // a set of factors, one bit each
using WireSet = std::uint64_t;    // a set of the wires of a network, one bit each

constexpr std::size_t most_factors = 32, most_wires = 64;

struct Problem {
  std::vector<WireSet> factors;     // the wires that each varies along
  WireSet kept = 0;                 // all other wires are summed
  std::vector<double> sizes;        // of the wires
  std::vector<FactorSet> existing;  // products, summed as far as they can be, that need not be computed
};

// A product of factors, summed over all wires that nothing else has. `left` and `right` are the nodes that it
// multiplies; none for a factor alone, and for a product that exists.
struct Node {
  FactorSet factors = 0;
  int left = -1, right = -1;
};
struct Order {
  std::vector<Node> nodes;            // operands first; the last node is the whole
  double operations = 0, values = 0;  // multiplications and additions; values of all nodes between, which are stored
};

// The wires that are left of a product.
WireSet left_of(const Problem&, FactorSet);
// The wires that are summed once two products, or one factor alone, are there.
WireSet summed_at(const Problem&, const Order&, const Node&);
double positions(const Problem&, WireSet);

// None of them is worse than another in operations and in values; at most four, the fewest operations first. Every
// order is looked at for up to ten factors; of more, the one that grows the least in each step.
std::vector<Order> contraction_orders(const Problem&);

}  // namespace napkin::orders
