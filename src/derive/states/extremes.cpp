// Takes terms apart into what the piece determines and what is settled, and finds the extremes of both; see
// extremes.hpp.
#include "derive/states/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "derive/states/carried.hpp"
#include "derive/states/guards.hpp"
#include "derive/states/notes.hpp"
#include "derive/states/orders.hpp"
#include "derive/states/rounding.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

using Find = std::function<std::optional<Sum>(const Extreme&)>;

// The extreme of a term that the piece alone determines; `waiting` is the exponent of its later factor.
std::optional<Sum> extreme_of_product(StreamAttempt& attempt, const Extreme& of, const Term& piece,
                                      const Sum& waiting) {
  const auto& [column, where] = of;
  const bool plain = piece.factors.empty() && !piece.cast && piece.coefficient == 1;
  if (!piece.exponent.empty() && plain) {
    // The exponential grows with its exponent: the extreme of one is that of the other.
    Term exponential;
    exponential.exponent = extreme_of_piece(attempt, of, piece.exponent);
    return Sum{exponential};
  }
  if (where && !piece.exponent.empty()) return refuse_mixing(attempt, build(attempt.scratch, piece)), std::nullopt;
  if (where) return extreme_of_piece(attempt, of, {piece});
  const auto reference = referenced(attempt, column, {piece}, column.over, waiting);
  if (!rounds_alike(attempt, column, {piece}, reference)) return {};
  return carried(attempt, column, {piece}, column.over, reference, false);
}

// ---- factors ----

// A sum stays one factor: multiplied out, its terms could cancel less exactly.
Sum product_with(Diagram& diagram, const Sum& value, const Term& v) {
  return times(value.size() > 1 ? as_factor(build(diagram, value)) : value, v);
}
std::optional<Sum> product_with(Diagram& diagram, const std::optional<Sum>& value, const Term& v) {
  return value ? std::optional(product_with(diagram, *value, v)) : std::nullopt;
}

// where(sign >= 0, upright * v, flipped * v). The exponential of v, which waits for finish, is multiplied in inside of
// the choice or outside of it.
Term chosen_by_sign(StreamAttempt& attempt, const Term& v, const Sum& upright, const Sum& flipped, bool inside) {
  const ExprId zero = attempt.scratch.intern(Constant{0});
  Term sign = v;
  sign.exponent.clear();
  const Term& factor = inside ? v : sign;
  Term chosen;
  chosen.factors = {{applied(attempt.scratch, "where",
                             {applied(attempt.scratch, ">=", {build(attempt.scratch, sign), zero}),
                              build(attempt.scratch, product_with(attempt.scratch, upright, factor)),
                              build(attempt.scratch, product_with(attempt.scratch, flipped, factor))}),
                     1}};
  if (!inside) chosen.exponent = v.exponent;
  return chosen;
}

// v * (the extreme of u), where the sign of v is known only at the end.
std::optional<Sum> by_late_sign(StreamAttempt& attempt, const Extreme& of, const Term& u, const Term& v,
                                const Find& find) {
  const Extreme turned = opposite_of(of);
  note_step(
      attempt, Rule::cascade, of.column, {multiplied(u, v)},
      {chosen_by_sign(attempt, v, reduction(attempt, of.column, {u}), reduction(attempt, turned.column, {u}), false)},
      "the sign of a factor is known only at the end: until then both extremes are carried");
  auto upright = find(of), flipped = upright ? find(turned) : std::nullopt;
  if (!flipped) return {};
  // Exponentials cancel only where they meet: outside if both extremes have the same exponential, else within the
  // choice.
  const bool alike =
      upright->size() == 1 && flipped->size() == 1 && equal((*upright)[0].exponent, (*flipped)[0].exponent);
  Sum common;
  if (alike) {
    common = std::exchange((*upright)[0].exponent, {});
    (*flipped)[0].exponent.clear();
  }
  Term chosen = chosen_by_sign(attempt, v, *upright, *flipped, !alike);
  chosen.exponent = add(chosen.exponent, common);
  return Sum{chosen};
}

// v * (the extreme of u), or v * (the opposite extreme) if v is negative.
std::optional<Sum> by_sign(StreamAttempt& attempt, const Extreme& of, const Term& u, const Term& v, const Find& find) {
  auto& algebra = attempt.algebra;
  if (trivial(v)) return find(of);
  attempt.found.rules.insert({Rule::cascade, Rule::invariant});
  Term sign = v;
  sign.exponent.clear();
  const bool positive = is_positive(algebra, sign);
  sign.coefficient *= -1;
  if (!positive && !is_positive(algebra, sign)) return by_late_sign(attempt, of, u, v, find);
  const Extreme kept = positive ? of : opposite_of(of);
  note_step(attempt, Rule::cascade, of.column, {multiplied(u, v)}, times(reduction(attempt, kept.column, {u}), v),
            positive ? "a factor that is never negative keeps the order"
                     : "a factor that is never positive reverses the order");
  return product_with(attempt.scratch, find(kept), v);
}

// ---- terms ----

// The greatest whole power k >= 2 such that all factors of both terms are k-th powers; 1 if there is none.
double raised_together(const Term& u, const Term& v) {
  const bool products = u.exponent.empty() && v.exponent.empty() && !u.cast && !u.factors.empty() && !v.factors.empty();
  long together = 0;
  for (const auto& [factor, power] : combined(u.factors, v.factors)) {
    if (!products || !integer(power)) return 1;
    together = std::gcd(together, std::lround(power));
  }
  return together < 2 ? 1 : static_cast<double>(together);
}

// Writes u^k * v^k as (u * v)^k. The quotient of two large numbers is raised, because their powers may be out of range.
std::optional<Sum> extreme_of_raised(StreamAttempt& attempt, const Extreme& of, const Term& u, const Term& v,
                                     double power) {
  Term raised, base, coefficient;
  raised.factors = combined(u.factors, v.factors);
  for (const auto& [factor, times] : raised.factors) base.factors.emplace_back(factor, times / power);
  coefficient.coefficient = u.coefficient * v.coefficient;
  return by_sign(attempt, of, raised, coefficient, [&](const Extreme& one) {
    return extreme_of_power(attempt, one, {build(attempt.scratch, base), power});
  });
}

// The term as u * v, where v is settled.
std::pair<Term, Term> factors_apart(StreamAttempt& attempt, const Extreme& of, const Term& term) {
  auto& algebra = attempt.algebra;
  Term inside, outside;
  outside.coefficient = term.coefficient;
  for (const auto& factor : term.factors) {
    auto& side = settled(attempt, of, factor.first) ? outside : inside;
    side.factors = combined(side.factors, {factor});
  }
  inside.cast = term.cast, inside.rounded = term.rounded, inside.unrounded = term.unrounded;
  const bool piecewise = dependence(algebra, term.exponent).piece;
  for (const auto& part : term.exponent) {
    const bool waits =
        settled(attempt, of, build(attempt.scratch, part)) && (!piecewise || dependence(algebra, part).state);
    (waits ? outside : inside).exponent.push_back(part);
  }
  return {inside, outside};
}

// The extreme of u * v, or of f * v if a single factor f mixes piece and state.
std::optional<Sum> extreme_of_term(StreamAttempt& attempt, const Extreme& of, const Term& term) {
  auto [inside, outside] = factors_apart(attempt, of, term);
  if (!dependence(attempt.algebra, inside).mixed()) {
    if (const double power = raised_together(inside, outside); power != 1)
      return extreme_of_raised(attempt, of, inside, outside, power);
    if (outside.coefficient < 0) inside.coefficient = -1, outside.coefficient *= -1;
    note_rules(attempt, {inside}, outside);
    return by_sign(attempt, of, inside, outside, [&, &u = inside, &v = outside](const Extreme& one) {
      return extreme_of_product(attempt, one, u, v.exponent);
    });
  }
  const bool single = inside.factors.size() + (inside.exponent.empty() ? 0 : 1) == 1 && !inside.cast;
  if (!single) return refuse_mixing(attempt, build(attempt.scratch, inside)), std::nullopt;
  return by_sign(attempt, of, inside, outside, [&, &u = inside](const Extreme& one) -> std::optional<Sum> {
    if (!u.factors.empty()) return extreme_of_power(attempt, one, u.factors[0]);
    const auto value = extreme(attempt, one, u.exponent);
    if (!value) return {};
    Term exponential;
    exponential.exponent = *value;
    return Sum{exponential};
  });
}

// ---- sums ----

// The terms that vary, and the sum in finish of those that are settled.
std::pair<Sum, Sum> terms_apart(StreamAttempt& attempt, const Extreme& of, const Sum& body, bool mixed) {
  auto& algebra = attempt.algebra;
  Sum inside, outside;
  for (const auto& term : body) {
    const Sum bare = {unguarded(term)};
    if (settled(attempt, of, build(attempt.scratch, bare[0])) && (mixed || dependence(algebra, term).state))
      outside = add(outside, guarded(attempt, of.column, bare, bare, term.guards, of.column.over));
    else
      inside.push_back(term);
  }
  return {inside, outside};
}

std::optional<Sum> extreme_of_single(StreamAttempt& attempt, const Extreme& of, const Term& term) {
  const auto value = extreme_of_term(attempt, of, term);
  if (!value) return {};
  // The guards are limited to the positions that an enclosing choice takes.
  const auto& guards = term.guards;
  const Guards counted = guards.empty() || !of.where ? guards : together(guards, {*of.where});
  return guarded(attempt, of.column, *value, *value, counted, of.column.over);
}

}  // namespace

void reduce_extreme(StreamAttempt& attempt, const Column& column) {
  auto& algebra = attempt.algebra;
  algebra.keeps_sums = true;
  const Sum body = normal(algebra, column.value);
  show_written_out(attempt, column, body);
  const bool exponential = body.size() == 1 && !body[0].exponent.empty();
  const bool whole = !dependence(algebra, body).state && !exponential;
  const auto [now, later] = parted(column.over, waiting_below(attempt, build(attempt.scratch, body)));
  Column inner = column;
  inner.over = now;
  const auto value = whole ? carried(attempt, column, body_in_file(algebra, column, body), now, {}, true)
                           : extreme(attempt, {inner}, body);
  algebra.keeps_sums = false;
  if (value) finish(attempt, column, *value, later);
}

Extreme opposite_of(const Extreme& of) {
  Extreme other = of;
  other.column.fold = opposite(*of.column.fold);
  return other;
}

bool settled(const StreamAttempt& attempt, const Extreme& of, ExprId e) {
  return !dependence(attempt.algebra, e).piece && within(of.column.over, wires_below(attempt.scratch, e)).empty();
}

Sum extreme_of_piece(StreamAttempt& attempt, const Extreme& of, const Sum& piece) {
  const auto& [column, where] = of;
  if (!where) return carried(attempt, column, piece, column.over, {}, false);
  const ExprId identity = attempt.scratch.intern(Constant{column.fold->identity});
  const ExprId counted = applied(attempt.scratch, "where", {*where, build(attempt.scratch, piece), identity});
  return carried(attempt, column, as_factor(counted), column.over, {}, false);
}

std::optional<Sum> extreme(StreamAttempt& attempt, const Extreme& of, const Sum& body) {
  const auto mixes = [&](const Term& term) { return dependence(attempt.algebra, term).mixed(); };
  const bool mixed = std::ranges::any_of(body, mixes);
  const auto [inside, outside] = terms_apart(attempt, of, body, mixed);
  if (inside.empty()) return outside;
  if (inside.size() > 1 && mixed)
    return refuse_mixing(attempt, build(attempt.scratch, *std::ranges::find_if(inside, mixes))), std::nullopt;
  if (!outside.empty()) {
    attempt.found.rules.insert({Rule::cascade, Rule::invariant});
    note_step(attempt, Rule::cascade, of.column, unguarded(body),
              add(reduction(attempt, of.column, unguarded(inside)), outside),
              "a term that does not vary with the piece shifts all terms equally");
    for (const auto& term : inside) note_casts(attempt, term);
  }
  const bool single = inside.size() == 1 && (mixed || !inside[0].exponent.empty());
  const auto value =
      single ? extreme_of_single(attempt, of, inside[0]) : std::optional(extreme_of_piece(attempt, of, inside));
  return value ? std::optional(add(*value, outside)) : std::nullopt;
}

}  // namespace napkin
