// Multiplies normal forms, and rewrites functions of products factor by factor if this separates pieces from finished
// reductions; see factors.hpp.
#include "derive/algebra/factors.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "derive/algebra/build.hpp"
#include "derive/algebra/normal.hpp"
#include "derive/algebra/separate.hpp"
#include "derive/states/moments.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

// Writes u * v + w * v as v * (u + w).
std::optional<Term> factored(const Algebra& algebra, const Sum& sum) {
  const bool mixes = sum.size() > 1 && !algebra.keeps_sums && dependence(algebra, sum).mixed();
  if (!mixes || std::ranges::any_of(sum, [&](const Term& t) { return !dependence(algebra, t).piece; })) return {};
  const auto common = common_factor(algebra, sum);
  if (!common) return {};
  Sum pieces = sum;
  for (auto& term : pieces) term.factors = combined(term.factors, powers(*common, -1));
  Term all;
  all.factors = combined(*common, as_factor(algebra.diagram, pieces)[0].factors);
  return all;
}

// Whether the terms of a sum may cancel. Multiplied out, a product of two such sums has larger terms that cancel: its
// rounding error grows with the square of the cancellation, that of the product of the differences only linearly.
bool may_cancel(const Algebra& algebra, const Sum& sum) {
  return !algebra.keeps_sums && sum.size() > 1 && dependence(algebra, sum).mixed() &&
         !std::ranges::all_of(sum, [&](const Term& term) { return is_positive(algebra, term); });
}

// Makes a sum of several terms one factor, unless it mixes piece and state and so must be multiplied out.
Sum wrapped(Algebra& algebra, const Sum& sum) {
  if (is_shift(algebra, sum)) return as_factor(algebra.diagram, sum);
  if (const auto product = factored(algebra, sum)) return {*product};
  if (sum.size() < 2 || (!algebra.keeps_sums && dependence(algebra, sum).mixed() && sum.size() <= most_terms))
    return sum;
  return as_factor(algebra.diagram, sum);
}

Term with_cast_as_factor(Algebra& algebra, const Term& term) {
  Term inside, rest = term;
  inside.factors = term.rounded;
  inside.exponent = term.exponent;
  if (dependence(algebra, inside).state) return term;
  rest.cast.reset();
  rest.rounded.clear();
  rest.exponent.clear();
  rest.factors = combined(rest.factors, {{cast_to(algebra.diagram, *term.cast, build(algebra.diagram, inside)), 1}});
  return rest;
}

// A term holds one cast. In a product of two casts each is rounded by itself, unless its argument must be taken apart.
Term multiplied(Algebra& algebra, const Term& a, const Term& b) {
  if (!a.cast || !b.cast) return multiplied(a, b);
  const Term left = with_cast_as_factor(algebra, a);
  return multiplied(left, left.cast ? with_cast_as_factor(algebra, b) : b);
}

// (v * u)^p = v^p * u^p for a v that is never negative.
Sum raised_apart(Algebra& algebra, const Term& term, double power) {
  Term outside, inside;
  outside.coefficient = std::pow(std::abs(term.coefficient), power);
  if (term.coefficient < 0) inside.coefficient = -1;
  outside.exponent = scale(term.exponent, power);
  outside.moved = term.moved;
  if (power > 0) outside.guards = term.guards;
  for (const auto& [base, old] : term.factors) {
    const bool whole = is_positive(algebra, base);
    auto& factors = whole ? outside.factors : inside.factors;
    factors = combined(factors, {{base, whole ? old * power : old}});
  }
  if (!inside.factors.empty() || inside.coefficient < 0)
    outside.factors = combined(outside.factors, {{build(algebra.diagram, inside), power}});
  return {outside};
}

// The roots of factors of which none is negative; the root of an even power is that of the magnitude.
Factors roots(Algebra& algebra, const Factors& factors, double power) {
  Factors all;
  for (const auto& [base, old] : factors)
    all = combined(all, {{is_positive(algebra, base) ? base : applied(algebra.diagram, "abs", {base}), old * power}});
  return all;
}

// log(u * v) = log(u) + log(v) if one of the factors is never negative. The other is then not negative either wherever
// the logarithm is defined.
std::optional<Sum> logarithm_apart(Algebra& algebra, const Apply& log, const Sum& sum) {
  if (sum.size() != 1 || sum[0].cast || !sum[0].moved.empty()) return {};
  if (!dependence(algebra, sum).mixed() || (algebra.keeps_sums && is_positive(algebra, sum[0]))) return {};
  auto separated = separate(algebra, sum[0]);
  auto* parts = std::get_if<SeparatedTerm>(&separated);
  if (!parts || !parts->shifts.empty()) return {};
  Sum all;
  for (auto* part : {&parts->piece, &parts->state}) {
    all = add(all, scale(std::exchange(part->exponent, {}), 1 / log.function->scale));
    if (!part->factors.empty() || part->coefficient != 1)
      all = add(all, as_factor(applied(algebra.diagram, log.function->name, {build(algebra.diagram, *part)})));
  }
  for (auto& term : all)
    if (dependence(algebra, term).state) term.guards = parts->guards;
  if (!is_positive(algebra, parts->piece) && !is_positive(algebra, parts->state)) return {};
  return all;
}

}  // namespace

Sum multiplied(Algebra& algebra, const Sum& a, const Sum& b) {
  Sum left = wrapped(algebra, a), right = wrapped(algebra, b);
  if (may_cancel(algebra, left) && may_cancel(algebra, right))
    left = as_factor(algebra.diagram, left), right = as_factor(algebra.diagram, right);
  Sum all;
  for (const auto& x : left)
    for (const auto& y : right) all = add(all, {multiplied(algebra, x, y)});
  return all;
}

Sum raised(Algebra& algebra, const Sum& sum, double power) {
  if (sum.size() == 1 && (integer(power) || is_positive(algebra, sum[0])) && !sum[0].cast) {
    Term term = sum[0];
    term.coefficient = std::pow(term.coefficient, power);
    term.factors = integer(power) ? powers(term.factors, power) : roots(algebra, term.factors, power);
    term.exponent = scale(term.exponent, power);
    if (power <= 0) term.guards.clear();
    return {term};
  }
  if (sum.size() == 1 && !sum[0].cast && dependence(algebra, sum).mixed()) return raised_apart(algebra, sum[0], power);
  if (const auto product = factored(algebra, sum)) return raised(algebra, {*product}, power);
  if (!algebra.keeps_sums && dependence(algebra, sum).mixed() && integer(power) && power > 0 && power <= 4 &&
      !is_shift(algebra, sum) && (power == 1 || !may_cancel(algebra, sum))) {
    Sum all = sum;
    for (int i = 1; i < power; ++i) all = multiplied(algebra, all, sum);
    return all;
  }
  Sum all = as_factor(algebra.diagram, sum);
  all[0].factors[0].second = power;
  return all;
}

Sum rooted(Algebra& algebra, const Apply& root, const Sum& sum, double power) {
  if (sum.size() == 1 && (is_positive(algebra, sum[0]) || (!sum[0].cast && dependence(algebra, sum).mixed())))
    return raised(algebra, sum, power);
  if (sum.size() != 1 || sum[0].exponent.empty() || sum[0].cast)
    return as_factor(applied(algebra.diagram, root.function->name, {build(algebra.diagram, sum)}), moved_in(sum));
  Term rest = sum[0];
  const Sum exponent = scale(rest.exponent, power);
  rest.exponent.clear();
  Sum all = as_factor(applied(algebra.diagram, root.function->name, {build(algebra.diagram, rest)}), rest.moved);
  all[0].exponent = exponent;
  return all;
}

Sum exponential(const Diagram& diagram, const Sum& sum, double by) {
  Term term;
  term.moved = moved_in(sum);
  Guards guards;
  for (auto& part : scale(sum, by)) {
    guards = together(guards, std::exchange(part.guards, {}));
    const bool bare = part.exponent.empty() && !part.cast;
    if (bare && part.factors.empty()) {
      term.coefficient *= std::exp(part.coefficient);
      continue;
    }
    const auto* log = bare && part.factors.size() == 1 && part.factors[0].second == 1
                          ? std::get_if<Apply>(&diagram.at(part.factors[0].first).node)
                          : nullptr;
    if (log && log->function->role == Role::logarithm)
      term.factors = combined(term.factors, {{log->arguments[0], part.coefficient / log->function->scale}});
    else
      term.exponent = add(term.exponent, {part});
  }
  const auto conditions = conditions_of(diagram, term);
  const auto leaves_zero = [&](ExprId guard) { return std::ranges::count(conditions, guard) > 0; };
  std::ranges::copy_if(guards, std::back_inserter(term.guards), leaves_zero);
  return {term};
}

// log(a * exp(b)) = log(a) + b: a must be positive where the logarithm is defined, since exp(b) is.
Sum logarithm(Algebra& algebra, const Apply& log, const Sum& sum) {
  if (const auto apart = logarithm_apart(algebra, log, sum)) return *apart;
  if (sum.size() != 1 || sum[0].exponent.empty() || sum[0].cast)
    return as_factor(applied(algebra.diagram, log.function->name, {build(algebra.diagram, sum)}), moved_in(sum));
  Term rest = sum[0];
  const Sum exponent = scale(rest.exponent, 1 / log.function->scale);
  rest.exponent.clear();
  if (rest.factors.empty() && rest.coefficient == 1 && rest.moved.empty()) return exponent;
  return add(exponent,
             as_factor(applied(algebra.diagram, log.function->name, {build(algebra.diagram, rest)}), rest.moved));
}

// |a * b| = |a| * |b|, if this separates pieces from finished reductions.
Sum magnitude(Algebra& algebra, ExprId e, const Apply& a, const Sum& sum) {
  if (sum.size() != 1 || sum[0].cast || !dependence(algebra, sum).mixed()) return opaque(algebra, e, a);
  Term term;
  term.coefficient = std::abs(sum[0].coefficient);
  term.exponent = sum[0].exponent;
  term.moved = sum[0].moved;
  term.guards = sum[0].guards;
  for (const auto& [base, power] : sum[0].factors)
    term.factors =
        combined(term.factors,
                 {{is_positive(algebra, base) ? base : applied(algebra.diagram, a.function->name, {base}), power}});
  return {term};
}

Sum homogeneous(Algebra& algebra, ExprId e, const Apply& a) {
  std::optional<Term> factor;
  Guards guards;
  std::vector<ExprId> upright, turned;
  bool mixed = false;
  for (const auto argument : a.arguments) {
    const Sum sum = normal(algebra, argument);
    if (sum.size() > 1 || (!sum.empty() && (sum[0].cast || !sum[0].moved.empty()))) return opaque(algebra, e, a);
    Term piece;
    piece.coefficient = 0;
    if (!sum.empty()) {
      mixed = mixed || dependence(algebra, sum).mixed();
      auto separated = separate(algebra, sum[0]);
      auto* parts = std::get_if<SeparatedTerm>(&separated);
      if (!parts || !parts->shifts.empty() || parts->piece.cast) return opaque(algebra, e, a);
      piece = parts->piece;
      piece.coefficient = std::exchange(parts->state.coefficient, 1);
      parts->state.exponent = add(parts->state.exponent, std::exchange(piece.exponent, {}));
      if (factor && !equal(*factor, parts->state)) return opaque(algebra, e, a);
      guards = factor ? either(algebra.diagram, guards, parts->guards) : parts->guards;
      factor = parts->state;
    }
    upright.push_back(build(algebra.diagram, piece.coefficient == 0 ? Sum{} : Sum{piece}));
    piece.coefficient *= -1;
    turned.push_back(build(algebra.diagram, piece.coefficient == 0 ? Sum{} : Sum{piece}));
  }
  if (!mixed || !factor) return opaque(algebra, e, a);
  const auto product = [&](double sign, std::vector<ExprId> arguments) {
    Term all = *factor;
    all.coefficient = sign;
    all.guards = guards;
    all.factors = combined(all.factors, {{applied(algebra.diagram, a.function->name, std::move(arguments)), 1}});
    return all;
  };
  if (is_positive(algebra, *factor)) return {product(1, upright)};
  Term sign = *factor;
  sign.exponent.clear();
  const ExprId holds =
      applied(algebra.diagram, ">=", {build(algebra.diagram, sign), algebra.diagram.intern(Constant{0})});
  return as_factor(
      applied(algebra.diagram, "where",
              {holds, build(algebra.diagram, product(1, upright)), build(algebra.diagram, product(-1, turned))}));
}

}  // namespace napkin
