// Rewrites functions of products factor by factor if this separates pieces from finished reductions.
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "derive/algebra/algebra.hpp"
#include "diagram/order.hpp"

namespace napkin {

// (v * u)^p = v^p * u^p for a v that is never negative.
Sum Algebra::raised_apart(const Term& term, double power) {
  Term outside, inside;
  outside.coefficient = std::pow(std::abs(term.coefficient), power);
  if (term.coefficient < 0) inside.coefficient = -1;
  outside.exponent = scale(term.exponent, power);
  outside.moved = term.moved;
  if (power > 0) outside.guards = term.guards;
  for (const auto& [base, old] : term.factors) {
    const bool whole = positive(base);
    auto& factors = whole ? outside.factors : inside.factors;
    factors = combined(factors, {{base, whole ? old * power : old}});
  }
  if (!inside.factors.empty() || inside.coefficient < 0)
    outside.factors = combined(outside.factors, {{build(inside), power}});
  return {outside};
}

// The roots of factors of which none is negative; the root of an even power is that of the magnitude.
Factors Algebra::roots(const Factors& factors, double power) {
  Factors all;
  for (const auto& [base, old] : factors)
    all = combined(all, {{positive(base) ? base : apply("abs", {base}), old * power}});
  return all;
}

Sum Algebra::raised(const Sum& sum, double power) {
  if (sum.size() == 1 && (integer(power) || positive(sum[0])) && !sum[0].cast) {
    Term term = sum[0];
    term.coefficient = std::pow(term.coefficient, power);
    term.factors = integer(power) ? powers(term.factors, power) : roots(term.factors, power);
    term.exponent = scale(term.exponent, power);
    if (power <= 0) term.guards.clear();
    return {term};
  }
  if (sum.size() == 1 && !sum[0].cast && dependence(sum).mixed()) return raised_apart(sum[0], power);
  if (const auto product = factored(sum)) return raised({*product}, power);
  if (!keeps_sums_ && dependence(sum).mixed() && integer(power) && power > 0 && power <= 4 && !is_shift(sum) &&
      (power == 1 || !may_cancel(sum))) {
    Sum all = sum;
    for (int i = 1; i < power; ++i) all = multiplied(all, sum);
    return all;
  }
  Sum all = atom(sum);
  all[0].factors[0].second = power;
  return all;
}

Sum Algebra::rooted(const Apply& root, const Sum& sum, double power) {
  if (sum.size() == 1 && (positive(sum[0]) || (!sum[0].cast && dependence(sum).mixed()))) return raised(sum, power);
  if (sum.size() != 1 || sum[0].exponent.empty() || sum[0].cast)
    return atom(apply(root.function->name, {build(sum)}), moved_in(sum));
  Term rest = sum[0];
  const Sum exponent = scale(rest.exponent, power);
  rest.exponent.clear();
  Sum all = atom(apply(root.function->name, {build(rest)}), rest.moved);
  all[0].exponent = exponent;
  return all;
}

// log(a * exp(b)) = log(a) + b: a must be positive where the logarithm is defined, since exp(b) is.
Sum Algebra::logarithm(const Apply& log, const Sum& sum) {
  if (const auto apart = logarithm_apart(log, sum)) return *apart;
  if (sum.size() != 1 || sum[0].exponent.empty() || sum[0].cast)
    return atom(apply(log.function->name, {build(sum)}), moved_in(sum));
  Term rest = sum[0];
  const Sum exponent = scale(rest.exponent, 1 / log.function->scale);
  rest.exponent.clear();
  if (rest.factors.empty() && rest.coefficient == 1 && rest.moved.empty()) return exponent;
  return add(exponent, atom(apply(log.function->name, {build(rest)}), rest.moved));
}

// log(u * v) = log(u) + log(v) if one of the factors is never negative. The other is then not negative either wherever
// the logarithm is defined.
std::optional<Sum> Algebra::logarithm_apart(const Apply& log, const Sum& sum) {
  if (sum.size() != 1 || sum[0].cast || !sum[0].moved.empty()) return {};
  if (!dependence(sum).mixed() || (keeps_sums_ && positive(sum[0]))) return {};
  auto separated = separate(sum[0]);
  auto* parts = std::get_if<Separated>(&separated);
  if (!parts || !parts->shifts.empty()) return {};
  Sum all;
  for (auto* part : {&parts->piece, &parts->state}) {
    all = add(all, scale(std::exchange(part->exponent, {}), 1 / log.function->scale));
    if (!part->factors.empty() || part->coefficient != 1)
      all = add(all, atom(apply(log.function->name, {build(*part)})));
  }
  for (auto& term : all)
    if (dependence(term).state) term.guards = parts->guards;
  if (!positive(parts->piece) && !positive(parts->state)) return {};
  return all;
}

// |a * b| = |a| * |b|, if this separates pieces from finished reductions.
Sum Algebra::magnitude(ExprId e, const Apply& a, const Sum& sum) {
  if (sum.size() != 1 || sum[0].cast || !dependence(sum).mixed()) return opaque(e, a);
  Term term;
  term.coefficient = std::abs(sum[0].coefficient);
  term.exponent = sum[0].exponent;
  term.moved = sum[0].moved;
  term.guards = sum[0].guards;
  for (const auto& [base, power] : sum[0].factors)
    term.factors = combined(term.factors, {{positive(base) ? base : apply(a.function->name, {base}), power}});
  return {term};
}

// f(u * v, w * v) = v * f(u, w) if v is never negative. If the sign of v is known only at the end, both cases are
// computed, with f(u * v, w * v) = -v * f(-u, -w) for a negative v.
Sum Algebra::homogeneous(ExprId e, const Apply& a) {
  std::optional<Term> factor;
  Guards guards;
  std::vector<ExprId> upright, turned;
  bool mixed = false;
  for (const auto argument : a.arguments) {
    const Sum sum = normal(argument);
    if (sum.size() > 1 || (!sum.empty() && (sum[0].cast || !sum[0].moved.empty()))) return opaque(e, a);
    Term piece;
    piece.coefficient = 0;
    if (!sum.empty()) {
      mixed = mixed || dependence(sum).mixed();
      auto separated = separate(sum[0]);
      auto* parts = std::get_if<Separated>(&separated);
      if (!parts || !parts->shifts.empty() || parts->piece.cast) return opaque(e, a);
      piece = parts->piece;
      piece.coefficient = std::exchange(parts->state.coefficient, 1);
      parts->state.exponent = add(parts->state.exponent, std::exchange(piece.exponent, {}));
      if (factor && !napkin::equal(*factor, parts->state)) return opaque(e, a);
      guards = factor ? either(guards, parts->guards) : parts->guards;
      factor = parts->state;
    }
    upright.push_back(build(piece.coefficient == 0 ? Sum{} : Sum{piece}));
    piece.coefficient *= -1;
    turned.push_back(build(piece.coefficient == 0 ? Sum{} : Sum{piece}));
  }
  if (!mixed || !factor) return opaque(e, a);
  const auto product = [&](double sign, std::vector<ExprId> arguments) {
    Term all = *factor;
    all.coefficient = sign;
    all.guards = guards;
    all.factors = combined(all.factors, {{apply(a.function->name, std::move(arguments)), 1}});
    return all;
  };
  if (positive(*factor)) return {product(1, upright)};
  Term sign = *factor;
  sign.exponent.clear();
  const ExprId holds = apply(">=", {build(sign), diagram_.intern(Constant{0})});
  return atom(apply("where", {holds, build(product(1, upright)), build(product(-1, turned))}));
}

}  // namespace napkin
