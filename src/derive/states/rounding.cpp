// Moves casts past finished factors (docs/theory.md, casts), and checks that the results stay the same; see
// rounding.hpp.
#include "derive/states/rounding.hpp"

#include <algorithm>
#include <cmath>

#include "derive/states/carried.hpp"
#include "derive/streams/refusals.hpp"

namespace napkin {

// The argument of a cast is the product of a piece and of finished reductions. The piece is rounded, and the other
// factor waits. Whether this gives the same result, within the cast's own rounding, is checked once it is known what
// the piece is kept relative to.
Sum Algebra::cast(ExprId e, Datatype type, const Sum& sum) {
  const auto depends = dependence(sum);
  if (!depends.mixed()) return dependence(e).state ? atom(cast_to(type, build(sum)), moved_in(sum)) : atom(e);
  if (keeps_sums_) return atom(cast_to(type, build(sum)), moved_in(sum));
  if (is_shift(sum)) return cast_distance(type, atom(sum)[0]);
  if (sum.size() > 1) return left_out(type, sum);
  auto separated = separate(sum[0]);
  if (std::holds_alternative<ExprId>(separated)) return atom(cast_to(type, build(sum)), moved_in(sum));
  auto& [piece, state, shifts, guards] = std::get<Separated>(separated);
  if (!shifts.empty()) {
    for (const auto& shift : shifts) piece.factors = combined(piece.factors, {{shift.base, shift.power}});
    Term distance = napkin::multiplied(cast_distance(type, piece)[0], state);
    distance.guards = guards;
    return {distance};
  }
  Factors waiting;
  piece.rounded = combined(piece.rounded, piece.factors);
  piece.factors.clear();
  for (const auto& factor : state.factors) {
    auto& side = dependence(factor.first).state ? waiting : piece.rounded;
    side = combined(side, {factor});
  }
  state.factors = waiting;
  const double size = std::abs(state.coefficient);
  if (size != 1) piece.rounded = combined(piece.rounded, {{diagram_.intern(Constant{size}), 1}});
  state.coefficient /= size;
  if (piece.cast && *piece.cast != type) piece.unrounded = piece.cast;
  piece.cast = type;
  Term inside;
  inside.factors = piece.rounded;
  inside.exponent = piece.exponent;
  piece.moved.push_back({type, {inside}, {state}});
  Term all = napkin::multiplied(piece, state);
  all.guards = guards;
  return {all};
}

// A distance from a value that is finished later. It is rounded if the format has the range of f32; otherwise it is not
// rounded.
Sum Algebra::cast_distance(Datatype type, Term distance) {
  if (!reaches_as_far(type, Datatype::f32)) return left_out(type, {distance});
  distance.rounded = combined(distance.rounded, distance.factors);
  distance.factors.clear();
  distance.cast = type;
  return {distance};
}

// The terms of a sum are not rounded: rounded one by one, they could lose more than the sum does. A cast that may
// change a value by more than its last digit stays.
Sum Algebra::left_out(Datatype type, const Sum& sum) {
  if (!is_floating(type) || saturates(type)) return atom(cast_to(type, build(sum)), moved_in(sum));
  Sum all = sum;
  for (auto& term : all)
    if (dependence(term).piece) term.unrounded = type;
  return all;
}

namespace {

// In the normal range, rounding has the same relative error before and after the multiplication. Below the range of the
// format the loss grows with the factor; above it, a saturating format gives another number.
bool rounds_alike(const Ranges& ranges, Datatype kept, const Moved& moved) {
  if (!is_floating(moved.type)) return false;
  if (reaches_as_far(moved.type, kept)) return true;
  const double rounded = ranges.of(moved.rounded).magnitude(), waiting = ranges.of(moved.waiting).magnitude();
  if (waiting <= 1) return rounded <= greatest(moved.type);
  return ranges.exact_in(moved.type, moved.rounded[0]) && !saturates(moved.type);
}

// `moved` after the piece is made relative to the reference.
Moved relative(StreamAttempt& attempt, Moved moved, const Term& piece, const Reference& reference) {
  Term &rounded = moved.rounded[0], &waiting = moved.waiting[0];
  const ExprId maximum = read_whole(attempt.scratch, attempt.found.all[reference.state].array);
  if (!reference.base.empty()) {
    // The raised part becomes at most one in magnitude; the other factors are unchanged.
    const auto rest = without(rounded.factors, reference);
    if (!rest) return moved;
    rounded.factors = *rest;
    waiting.factors = combined(waiting.factors, {{maximum, reference.ratio}});
  } else if (!rounded.exponent.empty() && equal(rounded.exponent, piece.exponent)) {
    rounded.exponent = {};
    waiting.exponent = add(waiting.exponent, exponential_of(attempt, reference).exponent);
  }
  return moved;
}

}  // namespace

bool rounds_alike(StreamAttempt& attempt, const Column& column, const Sum& piece,
                  const std::optional<Reference>& reference) {
  auto& scratch = attempt.scratch;
  auto& algebra = attempt.algebra;
  auto& refused = attempt.found.refused;
  const auto kept = accumulator(scratch.at(column.output).type);
  for (const auto& term : piece)
    for (const auto& moved : term.moved) {
      if (rounds_alike(attempt.ranges, kept, reference ? relative(attempt, moved, term, *reference) : moved)) continue;
      if (!refused)
        refused = refused_rounding(scratch, *attempt.deriving, attempt.wire, moved.type, algebra.build(moved.rounded),
                                   algebra.build(moved.waiting));
      return false;
    }
  return true;
}

}  // namespace napkin
