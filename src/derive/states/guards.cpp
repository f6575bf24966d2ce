// If a choice leaves out every position, the sum must be zero, but finished factors may then be infinite or NaN. So
// finish tests whether the condition held anywhere (docs/theory.md, choices).
#include <algorithm>
#include <cmath>

#include "derive/states/analysis.hpp"

namespace napkin {

Sum StateAnalysis::guarded(const Column& column, const Sum& value, const Sum& waiting, const Guards& guards,
                           const std::vector<WireId>& over) {
  ends_.clear();
  if (guards.empty() || value.empty() || ends_of(waiting).finite()) return value;
  Sum inside = value;
  Term chosen;
  // An exponential stays outside of the choice, where it can cancel with others, unless it could be infinite when
  // nothing was added.
  if (value.size() == 1 && !value[0].exponent.empty()) {
    const auto ends = ends_of(value[0].exponent);
    if (!ends.above && !ends.none) chosen.exponent = std::exchange(inside[0].exponent, {});
  }
  const ExprId held = holds_somewhere(column, algebra_.all_of(guards), over);
  const ExprId counted = algebra_.build(inside), zero = scratch_.intern(Constant{0});
  chosen.factors = {{algebra_.apply("where", {held, counted, zero}), 1}};
  found_.rules.insert({Rule::cascade, Rule::finish});
  note_step(Rule::cascade, algebra_.build(value), algebra_.build(chosen),
            "if the condition held nowhere, the sum is zero, whatever multiplies it");
  return {chosen};
}

ExprId StateAnalysis::holds_somewhere(const Column& column, ExprId condition, const std::vector<WireId>& over) {
  const auto free = free_wires(scratch_, condition);
  const auto along = within(over, {free.begin(), free.end()});
  if (along.empty()) return condition;
  const ExprId zero = scratch_.intern(Constant{0});
  for (const auto& state : found_.all)
    if (state.over == along && says_whether(state, condition))
      return algebra_.apply(">", {read_whole(scratch_, state.array), zero});
  Column any = column;
  any.over = along;
  return any_holds(any, condition);
}

// Whether a state is positive if and only if the condition held: a sum of ones, or a sum that contains the term of its
// maximum.
bool StateAnalysis::says_whether(const State& state, ExprId condition) {
  if (state.ranked || state.moment || state.body.size() != 1) return false;
  const Term& body = state.body[0];
  const std::vector<ExprId> only = {condition};
  if (at_least_one_.contains(state.array)) return body.exponent.size() == 1 && masks_of(body.exponent[0]) == only;
  const bool adds = state.reduction->combine->role == Role::add && !state.reference && !body.cast;
  const ExprId one = scratch_.intern(Constant{1}), zero = scratch_.intern(Constant{0});
  const ExprId counted = algebra_.apply("where", {condition, one, zero});
  return adds && body.coefficient > 0 && body.exponent.empty() && body.factors == Factors{{counted, 1}};
}

// The conditions that must hold, or a part of an exponent is minus infinity; columns that it reads are written out.
std::vector<ExprId> StateAnalysis::masks_of(const Term& part) {
  Term whole;
  whole.exponent = {part};
  const auto* read = part.factors.size() == 1 ? std::get_if<Access>(&scratch_.at(part.factors[0].first).node) : nullptr;
  const auto made = read && kinds_.whole(*read) ? producer_.find(read->array) : producer_.end();
  if (made != producer_.end() && !made->second->fold && !made->second->carried)
    whole.exponent[0].factors = {{made->second->value, part.factors[0].second}};
  return conditions_of(scratch_, whole);
}

// ---- what arrays hold ----

// Computed once per array. An array that is read before it is written, by an outer stream, may hold anything.
Ends StateAnalysis::ends_of(ArrayId array) {
  const bool first = ends_.emplace(array, any_ends).second;
  if (first) ends_[array] = held_ends(array);
  return ends_.at(array);
}

Ends StateAnalysis::held_ends(ArrayId array) {
  const auto is = [&](const auto& made) { return made.array == array; };
  if (const auto state = std::ranges::find_if(found_.all, is); state != found_.all.end()) return ends_of(*state);
  for (const auto& centre : found_.centres)
    if (centre.mean == array) {
      const Ends ends = joined(ends_of(centre.body), ends_of(Sum{centre.weight}));
      return ends.finite() ? ends : any_ends;
    }
  for (const auto& [column, folds] : found_.late_folds)
    for (const auto& fold : folds)
      if (fold.output == array) return ends_of(fold);
  if (const auto value = found_.finished.find(array); value != found_.finished.end()) return ends_of(value->second);
  if (const auto made = producer_.find(array); made != producer_.end()) return ends_of(*made->second);
  const bool given = std::ranges::find(scratch_.inputs, array) != scratch_.inputs.end();
  const bool counts = std::ranges::any_of(found_.extents, [&](const Column& c) { return c.output == array; });
  return given || counts ? Ends{} : any_ends;
}

Ends StateAnalysis::ends_of(const Sum& value) { return finite_.of(algebra_.build(value)); }

Ends StateAnalysis::ends_of(const State& state) {
  if (state.ranked) return any_ends;
  Sum body = state.body;
  if (state.reference && state.reference->base.empty()) body[0].exponent.clear();
  Ends ends = ends_of(body);
  if (state.moment)
    for (const auto centre : state.moment->centres) ends = joined(ends, ends_of(found_.centres[centre].body));
  return folded_ends(*state.reduction, ends);
}

Ends StateAnalysis::ends_of(const Column& column) {
  if (column.carried) return any_ends;
  const Ends ends = finite_.of(column.value);
  return column.fold ? folded_ends(*column.fold, ends) : ends;
}

// An axis has at least one position, so an extreme is always one of the folded values.
Ends StateAnalysis::folded_ends(const Reduction& reduction, Ends each) {
  if (each.finite() || std::isinf(reduction.identity)) return each;
  return reduction.combine->role == Role::add ? sum(each, each) : any_ends;
}

std::optional<Range> StateAnalysis::known_unmasked(ArrayId array) {
  if (!at_least_one_.contains(array)) return known(array);
  const auto& state = found_.all[state_of(array)];
  const auto greatest = found_.all[state.reference->state].array;
  return Range{.least = ends_of(greatest).finite() ? 1.0 : 0.0};
}

}  // namespace napkin
