// Moves casts past finished factors (docs/theory.md, casts); see casts.hpp.
#include "derive/algebra/casts.hpp"

#include <cmath>
#include <utility>

#include "derive/algebra/build.hpp"
#include "derive/algebra/ranges.hpp"
#include "derive/algebra/separate.hpp"

namespace napkin {
namespace {

// The cast as one factor.
Sum whole(Diagram& diagram, Datatype type, const Sum& sum) {
  return as_factor(cast_to(diagram, type, build(diagram, sum)), moved_in(sum));
}

// The terms of a sum are not rounded: rounded one by one, they could lose more than the sum does. A cast that may
// change a value by more than its last digit stays.
Sum left_out(Algebra& algebra, Datatype type, const Sum& sum) {
  if (!is_floating(type) || saturates(type)) return whole(algebra.diagram, type, sum);
  Sum all = sum;
  for (auto& term : all)
    if (dependence(algebra, term).piece) term.unrounded = type;
  return all;
}

// A distance from a value that is finished later. It is rounded if the format has the range of f32; otherwise it is not
// rounded.
Sum cast_distance(Algebra& algebra, Datatype type, Term distance) {
  if (!reaches_as_far(type, Datatype::f32)) return left_out(algebra, type, {distance});
  distance.rounded = combined(distance.rounded, distance.factors);
  distance.factors.clear();
  distance.cast = type;
  return {distance};
}

}  // namespace

Sum cast(Algebra& algebra, ExprId e, Datatype type, const Sum& sum) {
  const auto depends = dependence(algebra, sum);
  if (!depends.mixed()) return dependence(algebra, e).state ? whole(algebra.diagram, type, sum) : as_factor(e);
  if (algebra.keeps_sums) return whole(algebra.diagram, type, sum);
  if (is_shift(algebra, sum)) return cast_distance(algebra, type, as_factor(algebra.diagram, sum)[0]);
  if (sum.size() > 1) return left_out(algebra, type, sum);
  auto separated = separate(algebra, sum[0]);
  if (std::holds_alternative<ExprId>(separated)) return whole(algebra.diagram, type, sum);
  auto& [piece, state, shifts, guards] = std::get<SeparatedTerm>(separated);
  if (!shifts.empty()) {
    for (const auto& shift : shifts) piece.factors = combined(piece.factors, {{shift.base, shift.power}});
    Term distance = multiplied(cast_distance(algebra, type, piece)[0], state);
    distance.guards = guards;
    return {distance};
  }
  Factors waiting;
  piece.rounded = combined(piece.rounded, piece.factors);
  piece.factors.clear();
  for (const auto& factor : state.factors) {
    auto& side = dependence(algebra, factor.first).state ? waiting : piece.rounded;
    side = combined(side, {factor});
  }
  state.factors = waiting;
  const double size = std::abs(state.coefficient);
  if (size != 1) piece.rounded = combined(piece.rounded, {{algebra.diagram.intern(Constant{size}), 1}});
  state.coefficient /= size;
  if (piece.cast && *piece.cast != type) piece.unrounded = piece.cast;
  piece.cast = type;
  Term inside;
  inside.factors = piece.rounded;
  inside.exponent = piece.exponent;
  piece.moved.push_back({type, {inside}, {state}});
  Term all = multiplied(piece, state);
  all.guards = guards;
  return {all};
}

}  // namespace napkin
