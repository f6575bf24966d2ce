// Checks that casts give the same results after they were moved past finished factors (docs/theory.md, casts); see
// rounding.hpp.
#include "derive/states/rounding.hpp"

#include <algorithm>
#include <cmath>

#include "derive/states/carried.hpp"
#include "derive/streams/refusals.hpp"

namespace napkin {
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
  auto& refused = attempt.found.refused;
  const auto kept = accumulator(scratch.at(column.output).type);
  for (const auto& term : piece)
    for (const auto& moved : term.moved) {
      if (rounds_alike(attempt.ranges, kept, reference ? relative(attempt, moved, term, *reference) : moved)) continue;
      if (!refused)
        refused = refused_rounding(scratch, *attempt.deriving, attempt.wire, moved.type, build(scratch, moved.rounded),
                                   build(scratch, moved.waiting));
      return false;
    }
  return true;
}

}  // namespace napkin
