// Solves the equations between the indices of a read and the places of its array.
#include "grad/reads.hpp"

#include <algorithm>

#include "diagram/index.hpp"

namespace napkin::grad {
namespace {

// Whether the index is the position along a wire of the same axis.
bool is_along(const Diagram& diagram, const Index& index, WireId wire) {
  const bool alone = index.terms.size() == 1 && index.offset == 0 && index.terms[0].second == 1;
  return alone && diagram.at(index.terms[0].first).axis == diagram.at(wire).axis;
}

bool stays_inside(const Diagram& diagram, const Index& index, WireId wire) {
  if (is_along(diagram, index, wire)) return true;
  const auto reached = range(diagram, index);
  return reached && diagram.size(wire) && reached->first >= 0 && reached->second < *diagram.size(wire);
}

class Equations {
 public:
  Equations(Diagram& diagram, const Access& access, const std::set<WireId>& from)
      : diagram_(diagram), access_(access), wires_(diagram_.at(access.array).wires) {
    std::set<WireId> kept;
    for (std::size_t i = 0; i < wires_.size(); ++i)
      if (access.at[i] == place(wires_[i])) kept.insert(wires_[i]);
    for (const auto wire : from)
      if (!kept.contains(wire)) left_.insert(apart(wire));
  }

  Return run() {
    std::vector<std::size_t> unsolved;
    for (std::size_t i = 0; i < wires_.size(); ++i)
      if (access_.at[i] != place(wires_[i]) && !solve(substituted(access_.at[i], places_), wires_[i]))
        unsolved.push_back(i);
    Return made{places_, {left_.begin(), left_.end()}, {}, measured_, instead_};
    for (const auto i : unsolved) made.unsolved.emplace_back(substituted(access_.at[i], places_), wires_[i]);
    return made;
  }

 private:
  // A wire of the array that is read at another place is replaced by a new wire in the gradient.
  WireId apart(WireId wire) {
    if (std::ranges::find(wires_, wire) == wires_.end()) return wire;
    const auto other = fresh_wire(diagram_, wire);
    places_[wire] = place(other);
    return other;
  }

  bool solve(const Index& index, WireId at) {
    if (index.divisor != 1) return solve_block(index, at);
    for (const auto& [wire, factor] : index.terms) {
      if (!left_.contains(wire) || (factor != 1 && factor != -1)) continue;
      auto solution = without(index, wire, at);
      for (auto& term : solution.terms) term.second *= factor;
      solution.offset *= factor;
      if (!stays_inside(diagram_, solution, wire)) continue;
      measure(solution, wire);
      put(wire, solution);
      return true;
    }
    return false;
  }

  // Solves wire / n = at by wire = n * at + r, for every r below n.
  bool solve_block(const Index& index, WireId at) {
    if (index.terms.size() != 1 || index.terms[0].second != 1 || index.offset != 0) return false;
    const auto wire = index.terms[0].first;
    const auto whole = diagram_.size(wire), blocks = diagram_.size(at);
    if (!left_.contains(wire) || !whole || !blocks || *whole != *blocks * index.divisor) return false;
    const auto within = fresh_wire(diagram_, "r", index.divisor);
    left_.insert(within);
    instead_.push_back({within, diagram_.at(wire).axis, diagram_.at(at).axis});
    put(wire, {{{at, index.divisor}, {within, 1}}, 0, 1});
    return true;
  }

  void measure(const Index& solution, WireId wire) {
    if (is_along(diagram_, solution, wire)) return;
    const auto axis = diagram_.at(wire).axis;
    if (const auto other = plain_wire(solution)) return instead_.push_back({*other, axis, diagram_.at(*other).axis});
    measured_.insert(axis);
    for (const auto& term : solution.terms) measured_.insert(diagram_.at(term.first).axis);
  }

  void put(WireId wire, const Index& solution) {
    const Places one{{wire, solution}};
    for (auto& [other, index] : places_) index = substituted(index, one);
    places_[wire] = solution;
    left_.erase(wire);
  }

  Diagram& diagram_;
  const Access& access_;
  std::vector<WireId> wires_;
  Places places_;
  std::set<WireId> left_;  // wires still to be summed over
  std::set<AxisId> measured_;
  std::vector<Return::Instead> instead_;
};

}  // namespace

Return way_back(Diagram& diagram, const Access& access, const std::set<WireId>& from) {
  return Equations(diagram, access, from).run();
}

std::optional<std::pair<std::int64_t, std::int64_t>> range(const Diagram& diagram, const Index& index) {
  std::pair all{index.offset, index.offset};
  for (const auto& [wire, factor] : index.terms) {
    const auto size = diagram.size(wire);
    if (!size) return std::nullopt;
    (factor > 0 ? all.second : all.first) += factor * (*size - 1);
  }
  return all;
}

Index without(const Index& index, WireId wire, WireId at) {
  std::map<WireId, std::int64_t> terms{{at, 1}};
  for (const auto& [other, factor] : index.terms)
    if (other != wire) terms[other] -= factor;
  Index made{{}, -index.offset, 1};
  for (const auto& term : terms)
    if (term.second != 0) made.terms.push_back(term);
  return made;
}

std::vector<ExprId> conditions(Algebra& algebra, Index index, WireId at) {
  const auto divisor = index.divisor;
  index.divisor = 1;
  auto& diagram = algebra.diagram();
  const auto value = number_of(diagram, index);
  const auto first = number_of(diagram, {{{at, divisor}}, 0, 1});
  if (divisor == 1) return {algebra.apply("==", {value, first})};
  const auto last = number_of(diagram, {{{at, divisor}}, divisor, 1});
  return {algebra.apply(">=", {value, first}), algebra.apply("<", {value, last})};
}

}  // namespace napkin::grad
