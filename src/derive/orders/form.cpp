#include "derive/orders/form.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "derive/algebra/ranges.hpp"
#include "derive/columns.hpp"
#include "derive/orders/names.hpp"
#include "diagram/compact.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"

namespace napkin::orders {
namespace {

ExprId replaced(Diagram& diagram, ExprId e, ExprId old, ExprId by) {
  if (e == old) return by;
  return with_operands(diagram, e, [&](ExprId operand) { return replaced(diagram, operand, old, by); });
}

// The first array that an expression reads; products of the expression are named after it.
std::string first_read(const Diagram& diagram, ExprId e) {
  std::string name;
  any_part(diagram, e, [&](ExprId part) {
    const auto* access = std::get_if<Access>(&diagram.at(part).node);
    if (access) name = diagram.at(access->array).name;
    return access != nullptr;
  });
  return name;
}

bool takes(std::vector<ExprId>& all, const std::vector<ExprId>& some) {
  for (const auto e : some) {
    const auto found = std::ranges::find(all, e);
    if (found == all.end()) return false;
    all.erase(found);
  }
  return true;
}

class Forming {
 public:
  Forming(const Diagram& diagram, std::size_t statement, const Network& network, const Order& order, const Held& held)
      : made_{diagram, {}, {}, order.operations, order.values},
        statement_(diagram.statements.at(statement)),
        network_(network),
        order_(order),
        held_(held),
        problem_(network.problem(diagram)) {}

  std::optional<ContractionForm> run() {
    diagram().before_blocks.reset();
    outside_ = network_.outside, under_ = network_.under;
    ExprId value = this->value(order_.nodes.size() - 1);
    for (const auto e : outside_) value = apply(network_.of.product, e, value);
    for (const auto e : under_) value = apply(network_.of.quotient, value, e);
    if (!possible_) return std::nullopt;
    put(value);
    drop_unread();
    drop_unused_expressions(diagram());
    return std::move(made_);
  }

 private:
  Diagram& diagram() { return made_.diagram; }
  const Node& node(int i) const { return order_.nodes[static_cast<std::size_t>(i)]; }
  ExprId apply(const Pointwise* function, ExprId a, ExprId b) { return diagram().intern(Apply{function, {a, b}}); }

  // ---- expressions ----
  const Existing* found(const Node& node) const {
    const auto at = std::ranges::find(held_.needed, node.factors, &Existing::factors);
    return node.left < 0 && at != held_.needed.end() ? &*at : nullptr;
  }
  bool is_computed(const Node& node) const {
    return node.left >= 0 || (!found(node) && summed_at(problem_, order_, node) != 0);
  }
  ExprId value(std::size_t i) {
    const auto& node = order_.nodes[i];
    if (const auto* known = found(node)) {
      made_.met.push_back(diagram().at(known->array).name);
      return read(*known);
    }
    const auto summed = summed_at(problem_, order_, node);
    const ExprId body = node.left < 0 ? factor(node) : product(node, summed == 0);
    if (summed == 0) return body;
    std::vector<WireId> over;
    for (std::size_t w = 0; w < network_.wires.size(); ++w)
      if ((summed >> w & 1) != 0) over.push_back(network_.wires[w]);
    std::ranges::sort(over);
    return diagram().intern(Reduce{network_.of.sum, std::move(over), body}, statement_.span);
  }
  ExprId factor(const Node& node) const {
    return network_.factors[static_cast<std::size_t>(std::countr_zero(node.factors))];
  }
  // A factor that only scales is multiplied in within the statement of the value that it scales.
  ExprId product(const Node& node, bool only_scales) {
    const bool right = size(node.right) > size(node.left);
    const auto operand = [&](int i, bool larger) {
      return only_scales && larger && is_computed(this->node(i)) ? value(static_cast<std::size_t>(i)) : stored(i);
    };
    const ExprId a = operand(node.left, !right), b = operand(node.right, right);
    return apply(network_.of.product, a, b);
  }
  double size(int i) const {
    return is_computed(node(i)) ? positions(problem_, left_of(problem_, node(i).factors)) : 0;
  }
  ExprId read(const Existing& known) {
    possible_ = possible_ && takes(outside_, known.outside) && takes(under_, known.under);
    return read_whole(diagram(), known.array);
  }

  // ---- statements ----
  // Finds a statement of the file that computes this node and sums the same products below it as the order does.
  const Existing* opened(int i) const {
    const auto at = std::ranges::find(held_.opened, node(i).factors, &Existing::factors);
    if (at == held_.opened.end()) return nullptr;
    const auto& parts = network_.parts;
    const auto part =
        static_cast<std::size_t>(std::ranges::find(parts, std::optional(at->array), &Part::array) - parts.begin());
    std::set<FactorSet> written, ordered;
    for (std::size_t p = part; p < parts.size(); ++p)
      if (parts[p].sums && parts[p].begin >= parts[part].begin && parts[p].end <= parts[part].end)
        written.insert(network_.masks[p]);
    add_sums(i, ordered);
    return written == ordered ? &*at : nullptr;
  }
  void add_sums(int i, std::set<FactorSet>& all) const {
    if (is_computed(node(i)) && summed_at(problem_, order_, node(i)) != 0) all.insert(node(i).factors);
    if (node(i).left < 0) return;
    add_sums(node(i).left, all), add_sums(node(i).right, all);
  }
  ExprId stored(int i) {
    const auto& node = this->node(i);
    if (!is_computed(node)) return value(static_cast<std::size_t>(i));
    if (const auto* known = opened(i)) return read(*known);
    const ExprId value = this->value(static_cast<std::size_t>(i));
    const auto bound = bound_of(value);
    diagram().arrays.push_back(
        {name_of(node), type_of(value, bound), wires_of(value), {}, diagram().at(statement_.output).span});
    const ArrayId array{static_cast<std::uint32_t>(diagram().arrays.size() - 1)};
    bounds_[array] = bound;
    before_.push_back({array, value, statement_.span});
    made_.made.push_back(diagram().at(array).name);
    return read_whole(diagram(), array);
  }
  // The wires of a value, in the order in which the arrays that it reads have them.
  std::vector<WireId> wires_of(ExprId value) {
    const auto free = free_wires(diagram(), value);
    std::vector<WireId> all;
    any_part(diagram(), value, [&](ExprId part) {
      const auto* access = std::get_if<Access>(&diagram().at(part).node);
      for (const auto& index : access ? access->at : std::vector<Index>())
        for (const auto& [wire, times] : index.terms)
          if (contains(free, wire) && !contains(all, wire)) all.push_back(wire);
      return false;
    });
    for (const auto wire : free)
      if (!contains(all, wire)) all.push_back(wire);
    return all;
  }
  // A name such as "KV" or "sum_of_K".
  std::string name_of(const Node& node) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < network_.factors.size(); ++i)
      if ((node.factors >> i & 1) != 0)
        if (const auto name = first_read(diagram(), network_.factors[i]); !name.empty()) names.push_back(name);
    if (names.size() == 1) names = {std::string(network_.of.sum->name), "of", names[0]};
    return free_name(diagram(), names, diagram().at(statement_.output).name);
  }
  void put(ExprId value) {
    auto& all = diagram().statements;
    const auto at = std::ranges::find(all, statement_.output, &Statement::output);
    at->value = replaced(diagram(), at->value, network_.root, value);
    all.insert(at, before_.begin(), before_.end());
  }
  // Removes statements that only the order of the file needed.
  void drop_unread() {
    auto opened = network_.opened();
    std::ranges::reverse(opened);
    for (bool again = true; again;) {
      again = false;
      for (const auto array : opened) again = drop(array) || again;
    }
  }
  bool drop(ArrayId array) {
    auto& all = diagram().statements;
    const auto reads_it = [&](const Statement& one) { return contains(arrays_read(diagram(), one.value), array); };
    if (contains(diagram().outputs, array) || std::ranges::any_of(all, reads_it)) return false;
    return std::erase_if(all, [&](const Statement& one) { return one.output == array; }) > 0;
  }

  // Intermediate values are not rounded. Sums of integers stay integers unless one could exceed the type.
  Datatype type_of(ExprId value, double bound) {
    const auto type = accumulator(diagram(), accumulator(diagram().at(statement_.output).type), value);
    return type != Datatype::i32 || bound <= greatest(type) ? type : Datatype::f64;
  }
  // An upper bound on the magnitude of a value.
  double bound_of(ExprId value) const {
    const Ranges ranges(made_.diagram, [&](ArrayId array) {
      const auto found = bounds_.find(array);
      return found == bounds_.end() ? std::nullopt : std::optional(Range{-found->second, found->second});
    });
    const auto* reduce = std::get_if<Reduce>(&made_.diagram.at(value).node);
    if (!reduce) return ranges.of(value).magnitude();
    double terms = 1;
    for (const auto wire : reduce->over) terms *= static_cast<double>(*made_.diagram.size(wire));
    return ranges.of(reduce->body).magnitude() * terms;
  }

  ContractionForm made_;
  Statement statement_;
  const Network& network_;
  const Order& order_;
  const Held& held_;
  Problem problem_;
  std::vector<ExprId> outside_, under_;
  std::vector<Statement> before_;
  std::map<ArrayId, double> bounds_;  // magnitudes of the new arrays
  bool possible_ = true;
};

}  // namespace

std::optional<ContractionForm> form(const Diagram& diagram, std::size_t statement, const Network& network,
                                    const Order& order, const Held& held) {
  return Forming(diagram, statement, network, order, held).run();
}

}  // namespace napkin::orders
