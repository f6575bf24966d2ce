// If a choice leaves out every position, the sum must be zero, but finished factors may then be infinite or NaN. So
// finish tests whether the condition held anywhere (docs/theory.md, choices); see guards.hpp.
#include "derive/states/guards.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "derive/algebra/finite.hpp"
#include "derive/states/carried.hpp"
#include "derive/states/notes.hpp"
#include "diagram/contains.hpp"

namespace napkin {
namespace {

// ---- what arrays hold ----

// The ends of values and arrays. Those of each array are computed once.
class HeldEnds {
 public:
  explicit HeldEnds(StreamAttempt& attempt) : attempt_(attempt) {}

  Ends of(const Sum& value) { return finite_.of(build(attempt_.scratch, value)); }

 private:
  // An array that is read before it is written, by an outer stream, may hold anything.
  Ends of(ArrayId array) {
    const bool first = known_.emplace(array, any_ends).second;
    if (first) known_[array] = held(array);
    return known_.at(array);
  }

  Ends held(ArrayId array) {
    const auto& found = attempt_.found;
    const auto state = std::ranges::find(found.all, array, &State::array);
    if (state != found.all.end()) return of(*state);
    const auto centre = std::ranges::find(found.centres, std::optional(array), &Centre::mean);
    if (centre != found.centres.end()) return of(*centre);
    for (const auto& [output, folds] : found.late_folds)
      for (const auto& fold : folds)
        if (fold.output == array) return of(fold);
    if (const auto value = found.finished.find(array); value != found.finished.end()) return of(value->second);
    const auto made = attempt_.producers.find(array);
    if (made != attempt_.producers.end()) return of(*made->second);
    const bool given = contains(attempt_.scratch.inputs, array);
    const bool counts = std::ranges::find(found.extents, array, &Column::output) != found.extents.end();
    return given || counts ? Ends{} : any_ends;
  }

  Ends of(const State& state) {
    if (state.ranked) return any_ends;
    Sum body = state.body;
    if (state.reference && state.reference->base.empty()) body[0].exponent.clear();
    Ends ends = of(body);
    if (state.moment)
      for (const auto centre : state.moment->centres) ends = joined(ends, of(attempt_.found.centres[centre].body));
    return folded_ends(*state.reduction, ends);
  }

  Ends of(const Centre& mean) {
    const Ends ends = joined(of(mean.body), of(Sum{mean.weight}));
    return ends.finite() ? ends : any_ends;
  }

  Ends of(const Column& column) {
    if (column.carried) return any_ends;
    const Ends ends = finite_.of(column.value);
    return column.fold ? folded_ends(*column.fold, ends) : ends;
  }

  std::optional<Range> range(ArrayId array) {
    if (!attempt_.at_least_one.contains(array)) return known_range(attempt_, array);
    const auto& states = attempt_.found.all;
    const auto& reference = std::ranges::find(states, array, &State::array)->reference;
    return Range{.least = of(states[reference->state].array).finite() ? 1.0 : 0.0};
  }

  StreamAttempt& attempt_;
  std::map<ArrayId, Ends> known_;
  Finite finite_{attempt_.scratch, [this](ArrayId array) { return of(array); },
                 Ranges(attempt_.scratch, [this](ArrayId array) { return range(array); })};
};

// ---- whether a condition held ----

// The conditions that must hold, or a part of an exponent is minus infinity; columns that it reads are written out.
std::vector<ExprId> masks_of(const StreamAttempt& attempt, const Term& part) {
  Term whole;
  whole.exponent = {part};
  const bool single = part.factors.size() == 1;
  const auto* read = single ? std::get_if<Access>(&attempt.scratch.at(part.factors[0].first).node) : nullptr;
  const auto made = read && attempt.kinds.whole(*read) ? attempt.producers.find(read->array) : attempt.producers.end();
  if (made != attempt.producers.end() && !made->second->fold && !made->second->carried)
    whole.exponent[0].factors = {{made->second->value, part.factors[0].second}};
  return conditions_of(attempt.scratch, whole);
}

// Whether a state is positive if and only if the condition held: a sum of ones, or a sum that contains the term of its
// maximum.
bool says_whether(StreamAttempt& attempt, const State& state, ExprId condition) {
  if (state.ranked || state.moment || state.body.size() != 1) return false;
  const Term& body = state.body[0];
  if (attempt.at_least_one.contains(state.array))
    return body.exponent.size() == 1 && masks_of(attempt, body.exponent[0]) == std::vector{condition};
  const bool adds = state.reduction->combine->role == Role::add && !state.reference && !body.cast;
  const ExprId one = attempt.scratch.intern(Constant{1}), zero = attempt.scratch.intern(Constant{0});
  const ExprId counted = applied(attempt.scratch, "where", {condition, one, zero});
  return adds && body.coefficient > 0 && body.exponent.empty() && body.factors == Factors{{counted, 1}};
}

ExprId holds_somewhere(StreamAttempt& attempt, const Column& column, ExprId condition,
                       const std::vector<WireId>& over) {
  auto& scratch = attempt.scratch;
  const auto along = within(over, wires_below(scratch, condition));
  if (along.empty()) return condition;
  const ExprId zero = scratch.intern(Constant{0});
  for (const auto& state : attempt.found.all)
    if (state.over == along && says_whether(attempt, state, condition))
      return applied(scratch, ">", {read_whole(scratch, state.array), zero});
  Column any = column;
  any.over = along;
  return any_holds(attempt, any, condition);
}

}  // namespace

Sum guarded(StreamAttempt& attempt, const Column& column, const Sum& value, const Sum& waiting, const Guards& guards,
            const std::vector<WireId>& over) {
  if (guards.empty() || value.empty()) return value;
  HeldEnds held(attempt);
  if (held.of(waiting).finite()) return value;
  Sum inside = value;
  Term chosen;
  // An exponential stays outside of the choice, where it can cancel with others, unless it could be infinite when
  // nothing was added.
  if (value.size() == 1 && !value[0].exponent.empty()) {
    const auto ends = held.of(value[0].exponent);
    if (!ends.above && !ends.none) chosen.exponent = std::exchange(inside[0].exponent, {});
  }
  const ExprId somewhere = holds_somewhere(attempt, column, all_of(attempt.scratch, guards), over);
  const ExprId counted = build(attempt.scratch, inside), zero = attempt.scratch.intern(Constant{0});
  chosen.factors = {{applied(attempt.scratch, "where", {somewhere, counted, zero}), 1}};
  attempt.found.rules.insert({Rule::cascade, Rule::finish});
  note_step(attempt, Rule::cascade, build(attempt.scratch, value), build(attempt.scratch, chosen),
            "if the condition held nowhere, the sum is zero, whatever multiplies it");
  return {chosen};
}

ExprId any_holds(StreamAttempt& attempt, const Column& column, ExprId condition) {
  auto& scratch = attempt.scratch;
  // The greatest of ones where the condition holds tells whether it holds at any position.
  Column any = column;
  any.fold = find_reduction("max");
  const ExprId one = scratch.intern(Constant{1}), nothing = scratch.intern(Constant{any.fold->identity});
  const ExprId zero = scratch.intern(Constant{0});
  const Sum ones = as_factor(applied(scratch, "where", {condition, one, nothing}));
  const ExprId greatest = build(scratch, carried(attempt, any, ones, any.over, {}, false));
  return applied(scratch, ">", {greatest, zero});
}

}  // namespace napkin
