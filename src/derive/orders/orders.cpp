// Dynamic programming over the sets of factors: the best ways to compute the product of a set join the best ways to
// compute two parts of it. Networks with more factors are ordered greedily, as in opt_einsum.
#include "derive/orders/orders.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

namespace napkin::orders {
namespace {

constexpr std::size_t most_orders = 4;
constexpr int searched_to_the_end = 10;  // networks with more factors are ordered greedily

// One way to compute a product from chosen ways of its two parts.
struct Way {
  double operations = 0, values = 0;
  double stored = 0;  // values of this product alone; 0 if the diagram stores it already
  FactorSet left = 0;
  std::size_t of_left = 0, of_right = 0;  // indices among the ways of the parts
};
using Ways = std::vector<Way>;

bool no_worse(const Way& a, const Way& b) { return a.operations <= b.operations && a.values <= b.values; }

// Keeps the ways that no other way beats in both operations and values. At most `most_orders` stay: those with the
// fewest operations, and the one with the fewest values.
void keep_best(Ways& ways) {
  std::ranges::stable_sort(ways, [](const Way& a, const Way& b) {
    return a.operations != b.operations ? a.operations < b.operations : a.values < b.values;
  });
  Ways best;
  for (const auto& way : ways)
    if (std::ranges::none_of(best, [&](const Way& other) { return no_worse(other, way); })) best.push_back(way);
  if (best.size() > most_orders) best.erase(best.begin() + most_orders - 1, best.end() - 1);
  ways = std::move(best);
}

class Searching {
 public:
  explicit Searching(const Problem& problem)
      : problem_(problem), all_((FactorSet{2} << (problem.factors.size() - 1)) - 1) {}

  std::vector<Order> run() {
    for (FactorSet factor = 1; factor != 0 && factor <= all_; factor <<= 1) ways_[factor] = {alone(factor)};
    if (std::popcount(all_) <= searched_to_the_end)
      for (FactorSet factors = 1; factors <= all_; ++factors) make(factors);
    else
      grow();
    std::vector<Order> orders;
    for (std::size_t i = 0; i < ways_[all_].size(); ++i) orders.push_back(order(i));
    return orders;
  }

 private:
  double size(FactorSet factors) const { return positions(problem_, left_of(problem_, factors)); }
  bool exists(FactorSet factors) const { return std::ranges::count(problem_.existing, factors) > 0; }
  WireSet wires(FactorSet factor) const { return problem_.factors[static_cast<std::size_t>(std::countr_zero(factor))]; }

  // A wire along which only one factor varies is summed first, which never costs more operations.
  Way alone(FactorSet factor) const {
    const auto left = left_of(problem_, factor);
    if (left == wires(factor) || exists(factor)) return {};
    const double stored = factor == all_ ? 0 : size(factor);
    return {positions(problem_, wires(factor)), stored, stored};
  }
  void make(FactorSet factors) {
    if (std::has_single_bit(factors)) return;
    auto& ways = ways_[factors];
    if (exists(factors)) return ways.push_back({});
    for (FactorSet left = (factors - 1) & factors; left > (factors ^ left); left = (left - 1) & factors)
      join(left, factors ^ left, ways);
    keep_best(ways);
  }
  void join(FactorSet left, FactorSet right, Ways& ways) {
    const auto &lefts = ways_.at(left), &rights = ways_.at(right);
    for (std::size_t i = 0; i < lefts.size(); ++i)
      for (std::size_t j = 0; j < rights.size(); ++j) {
        ways.push_back(joined(left, lefts[i], right, rights[j]));
        ways.back().of_left = i, ways.back().of_right = j;
      }
  }
  // A product that sums nothing only scales one operand. That operand is computed in the same statement and not stored.
  Way joined(FactorSet left, const Way& of_left, FactorSet right, const Way& of_right) const {
    const auto before = left_of(problem_, left) | left_of(problem_, right), after = left_of(problem_, left | right);
    const double stored = (left | right) == all_ ? 0 : size(left | right);
    Way way{of_left.operations + of_right.operations, of_left.values + of_right.values + stored, stored, left};
    way.operations += (before == after ? 1 : 2) * positions(problem_, before);
    if (before == after) way.values -= std::max(of_left.stored, of_right.stored);
    return way;
  }

  // Greedily joins the two parts whose product is smallest after subtracting the sizes of the parts, until one is left.
  void grow() {
    std::vector<FactorSet> parts;
    for (FactorSet factor = 1; factor != 0 && factor <= all_; factor <<= 1) parts.push_back(factor);
    while (parts.size() > 1) {
      auto [a, b] = smallest(parts);
      join(parts[a], parts[b], ways_[parts[a] | parts[b]]);
      parts[a] |= parts[b];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(b));
    }
  }
  std::pair<std::size_t, std::size_t> smallest(const std::vector<FactorSet>& parts) const {
    std::pair<std::size_t, std::size_t> best{0, 1};
    std::optional<double> least;
    for (std::size_t a = 0; a < parts.size(); ++a)
      for (std::size_t b = a + 1; b < parts.size(); ++b) {
        const double grown = size(parts[a] | parts[b]) - size(parts[a]) - size(parts[b]);
        if (!least || grown < *least) least = grown, best = {a, b};
      }
    return best;
  }

  Order order(std::size_t way) const {
    Order made{{}, ways_.at(all_)[way].operations, ways_.at(all_)[way].values};
    add(made, all_, way);
    return made;
  }
  int add(Order& made, FactorSet factors, std::size_t way) const {
    Node node{factors};
    const auto& of = ways_.at(factors)[way];
    if (of.left != 0) {
      node.left = add(made, of.left, of.of_left);
      node.right = add(made, factors ^ of.left, of.of_right);
      if (std::countr_zero(made.nodes[static_cast<std::size_t>(node.left)].factors) >
          std::countr_zero(made.nodes[static_cast<std::size_t>(node.right)].factors))
        std::swap(node.left, node.right);  // in the order of the file
    }
    made.nodes.push_back(node);
    return static_cast<int>(made.nodes.size()) - 1;
  }

  const Problem& problem_;
  FactorSet all_;
  std::map<FactorSet, Ways> ways_;
};

}  // namespace

WireSet left_of(const Problem& problem, FactorSet factors) {
  WireSet inside = 0, outside = problem.kept;
  for (std::size_t i = 0; i < problem.factors.size(); ++i)
    ((factors >> i & 1) != 0 ? inside : outside) |= problem.factors[i];
  return inside & outside;
}

WireSet summed_at(const Problem& problem, const Order& order, const Node& node) {
  WireSet before = 0;
  if (node.left < 0)
    before = problem.factors[static_cast<std::size_t>(std::countr_zero(node.factors))];
  else
    for (const int of : {node.left, node.right})
      before |= left_of(problem, order.nodes[static_cast<std::size_t>(of)].factors);
  return before & ~left_of(problem, node.factors);
}

double positions(const Problem& problem, WireSet wires) {
  double all = 1;
  for (std::size_t i = 0; i < problem.sizes.size(); ++i)
    if ((wires >> i & 1) != 0) all *= problem.sizes[i];
  return all;
}

std::vector<Order> contraction_orders(const Problem& problem) {
  if (problem.factors.empty() || problem.factors.size() > most_factors - 1) return {};
  return Searching(problem).run();
}

}  // namespace napkin::orders
