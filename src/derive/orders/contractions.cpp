// The networks of a diagram and their orders: rule S8.
//
//   sum[x](sum[d](Q[q, d] * K[x, d]) * V[x, e])  =  sum[d](Q[q, d] * sum[x](K[x, d] * V[x, e]))
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "derive/columns.hpp"
#include "derive/orders/form.hpp"
#include "derive/orders/scaled.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"

namespace napkin::orders {
namespace {

// An order is worth a look below this share of the operations, or of the intermediate values.
constexpr double worth = 0.9;
constexpr double most_work = 4;  // times the operations of the file, for fewer intermediate values

// The operations and stored values of a network as the file writes it. Arrays that are needed anyway cost nothing.
struct Written {
  double operations = 0, values = 0;
  std::set<FactorSet> sums;
};
Written written(const Network& network, const std::set<ArrayId>& needed) {
  Written made;
  std::vector<bool> free(network.parts.size());
  for (std::size_t i = 0; i < network.parts.size(); ++i) {
    const auto& part = network.parts[i];
    free[i] = free[part.above] || (part.array && needed.contains(*part.array));
    if (free[i]) continue;
    made.operations += part.positions * (part.sums ? std::max(1, part.operands) : std::max(0, part.operands - 1));
    made.values += part.values;
    if (part.sums) made.sums.insert(network.masks[i]);
  }
  return made;
}

bool is_computed(const Problem& problem, const Order& order, const Node& node) {
  return !contains(problem.existing, node.factors) && summed_at(problem, order, node) != 0;
}
// Whether an order sums the same products as the file.
bool is_as_written(const Problem& problem, const Order& order, const Written& file) {
  std::set<FactorSet> sums;
  for (const auto& node : order.nodes)
    if (is_computed(problem, order, node)) sums.insert(node.factors);
  return sums == file.sums;
}
bool is_worth_a_look(const Order& order, const Written& file) {
  return order.operations < worth * file.operations ||
         (order.values < worth * file.values && order.operations < most_work * file.operations);
}

class Contracting {
 public:
  explicit Contracting(const Diagram& diagram) : diagram_(diagram) {}

  std::vector<ContractionOrders> run() {
    std::vector<ContractionOrders> all;
    for (std::size_t s = 0; s < diagram_.statements.size(); ++s) {
      const auto networks = networks_in(diagram_, Statement(diagram_.statements[s]), false);
      const auto through = networks_in(diagram_, Statement(diagram_.statements[s]), true);
      for (std::size_t i = 0; i < networks.size(); ++i) {
        auto made = contraction(s, i, networks[i]);
        const auto wide = std::ranges::find(through, networks[i].root, &Network::root);
        if (wide != through.end() && !wide->rounded.empty()) made.refused = refused(s, i, *wide, best(made));
        if (i == 0) add_scaled(made);
        if (!made.forms.empty() || made.refused) all.push_back(std::move(made));
      }
    }
    return all;
  }
  // The forms of one network alone.
  ContractionOrders only(std::size_t statement, std::size_t which) {
    const auto networks = networks_in(diagram_, Statement(diagram_.statements[statement]), false);
    return which < networks.size() ? contraction(statement, which, networks[which]) : ContractionOrders();
  }

 private:
  // The operations that the best order saves.
  static double best(const ContractionOrders& one) {
    double least = one.operations;
    for (const auto& form : one.forms) least = std::min(least, form.operations);
    return one.operations - least;
  }
  static bool can_be_searched(const Network& network) {
    return network.factors.size() > 0 && network.factors.size() < most_factors && network.wires.size() <= most_wires;
  }

  ContractionOrders contraction(std::size_t s, std::size_t which, const Network& network) {
    const auto& statement = diagram_.statements[s];
    ContractionOrders made{diagram_.at(statement.output).name, which, words(network), 0, 0, {}, {}, statement.span};
    if (!can_be_searched(network)) return made;
    const auto needed = needed_besides(diagram_, s, network);
    auto opened = network.opened();
    std::erase_if(opened, [&](ArrayId array) { return needed.contains(array); });
    const Held held{existing(diagram_, s, network, needed),
                    existing(diagram_, s, network, {opened.begin(), opened.end()})};
    const auto file = written(network, needed);
    made.operations = file.operations, made.values = file.values;
    auto problem = network.problem(diagram_);
    for (const auto& one : held.needed) problem.existing.push_back(one.factors);
    for (const auto& order : contraction_orders(problem)) {
      if (is_as_written(problem, order, file) || !is_worth_a_look(order, file)) continue;
      if (auto found = form(diagram_, s, network, order, held)) made.forms.push_back(std::move(*found));
    }
    return made;
  }
  // Scales of blocks in their operands, where that is exact.
  void add_scaled(ContractionOrders& made) const {
    auto scaled = scaled_operands(diagram_, made.statement);
    if (!scaled) return;
    made.forms.push_back({std::move(scaled->diagram), std::move(scaled->made), {}, scaled->operations, scaled->values});
  }
  std::string words(const Network& network) const {
    std::vector<std::string> all;
    for (const auto e : network.factors) all.push_back(to_short_text(diagram_, e));
    return fmt::format("{}", fmt::join(all, fmt::format(" {} ", network.of.product->name)));
  }

  // ---- across a rounding ----
  // `saved` is the number of operations that the best order without crossing a rounding saves.
  std::optional<RefusedForm> refused(std::size_t s, std::size_t which, const Network& network, double saved) {
    if (!can_be_searched(network)) return std::nullopt;
    const auto problem = network.problem(diagram_);
    const auto orders = contraction_orders(problem);
    const auto file = written(network, {});
    if (orders.empty() || orders.front().operations >= worth * (file.operations - saved)) return std::nullopt;
    auto lifted = diagram_;
    RefusedForm made;
    for (const auto& rounding : network.rounded)
      if (is_crossed(orders.front(), network.masks[rounding.part])) lift(lifted, s, rounding, made);
    if (made.rounded.empty()) return std::nullopt;
    auto best = Contracting(lifted).only(s, which);
    if (best.forms.empty()) return std::nullopt;
    made.diagram = std::move(best.forms.front().diagram);
    made.operations = orders.front().operations, made.operations_as_written = file.operations - saved;
    return made;
  }
  static bool is_crossed(const Order& order, FactorSet factors) {
    return std::ranges::none_of(order.nodes, [&](const Node& node) { return node.factors == factors; });
  }
  void lift(Diagram& lifted, std::size_t s, const Rounding& rounding, RefusedForm& made) const {
    if (made.rounded.empty())
      made.span = rounding.array ? diagram_.at(*rounding.array).typed : diagram_.at(rounding.cast).span;
    if (!rounding.array) {
      const auto& cast = std::get<Cast>(diagram_.at(rounding.cast).node);
      made.rounded.push_back(fmt::format("{} to {}", to_short_text(diagram_, cast.value), row(cast.type).name));
      for (std::size_t i = 0; i <= s; ++i)
        lifted.statements[i].value = without(lifted, lifted.statements[i].value, rounding.cast);
      return;
    }
    auto& array = lifted.at(*rounding.array);
    made.rounded.push_back(fmt::format("{} to {}", array.name, row(array.type).name));
    const auto made_by = std::ranges::find(lifted.statements, *rounding.array, &Statement::output);
    array.type = accumulator(lifted, Datatype::f32, made_by->value);
  }
  static ExprId without(Diagram& diagram, ExprId e, ExprId cast) {
    const ExprId value = with_operands(diagram, e, [&](ExprId operand) { return without(diagram, operand, cast); });
    return e == cast ? std::get<Cast>(diagram.at(value).node).value : value;
  }

  Diagram diagram_;
};

std::vector<ContractionOrders> all_orders(const Diagram& diagram) { return Contracting(diagram).run(); }

}  // namespace
}  // namespace napkin::orders

namespace napkin {

std::vector<ContractionOrders> contractions(const Diagram& diagram) {
  const bool sized = std::ranges::all_of(diagram.axes, [](const Axis& axis) { return axis.size.has_value(); });
  return sized ? orders::all_orders(diagram) : std::vector<ContractionOrders>();
}

}  // namespace napkin
