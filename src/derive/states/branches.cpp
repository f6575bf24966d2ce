// Choices that depend on finished reductions only: both branches are reduced, and finish chooses between them.
#include <algorithm>
#include <utility>

#include "derive/algebra/choices.hpp"
#include "derive/states/analysis.hpp"

namespace napkin {

ExprId StateAnalysis::written_body(const Column& column) {
  algebra_.keep_sums(true);
  const ExprId body = algebra_.build(algebra_.normal(column.value));
  algebra_.keep_sums(false);
  return body;
}

std::optional<ExprId> StateAnalysis::late_condition(ExprId body) {
  const auto mixes = [&](ExprId e) { return algebra_.dependence(e).mixed(); };
  const auto late = [&](ExprId e) {
    const auto depends = algebra_.dependence(e);
    return depends.state && !depends.piece;
  };
  return condition_below(scratch_, body, mixes, late);
}

// where(c, fold of a, fold of b). Wires along which the condition varies are folded after the choice.
void StateAnalysis::reduce_branches(const Column& column, ExprId body, ExprId condition) {
  const auto waiting = free_wires(scratch_, condition);
  const auto [now, later] = parted(column.over, {waiting.begin(), waiting.end()});
  std::vector<ExprId> values;
  for (const bool holds : {true, false}) {
    values.push_back(branch(column, decided(scratch_, body, {{condition, holds}}), now));
    if (found_.refused) return;
  }
  const Sum chosen = as_factor(algebra_.apply("where", {condition, values[0], values[1]}));
  found_.rules.insert({Rule::cascade, Rule::finish});
  finish(column, chosen, later);
}

// The value at finish of the fold of one branch.
ExprId StateAnalysis::branch(const Column& column, ExprId body, const std::vector<WireId>& over) {
  Column part = column;
  auto wires = scratch_.at(column.output).wires;
  for (const auto wire : column.over)
    if (std::ranges::find(over, wire) == over.end()) wires.push_back(wire);
  part.output = new_array(scratch_, scratch_.at(column.output).name, type(column), std::move(wires),
                          scratch_.at(column.output).span);
  part.value = body;
  part.over = over;
  reduce(part);
  const Sum value = found_.refused ? Sum{} : std::exchange(found_.finished[part.output], {});
  found_.finished.erase(part.output);
  return algebra_.build(value);
}

}  // namespace napkin
