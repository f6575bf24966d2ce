// Multiplies normal forms; see products.hpp.
#include "derive/algebra/products.hpp"

#include <algorithm>

#include "derive/algebra/build.hpp"
#include "derive/algebra/separate.hpp"

namespace napkin {
namespace {

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

}  // namespace

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

bool may_cancel(const Algebra& algebra, const Sum& sum) {
  return !algebra.keeps_sums && sum.size() > 1 && dependence(algebra, sum).mixed() &&
         !std::ranges::all_of(sum, [&](const Term& term) { return is_positive(algebra, term); });
}

Sum multiplied(Algebra& algebra, const Sum& a, const Sum& b) {
  Sum left = wrapped(algebra, a), right = wrapped(algebra, b);
  if (may_cancel(algebra, left) && may_cancel(algebra, right))
    left = as_factor(algebra.diagram, left), right = as_factor(algebra.diagram, right);
  Sum all;
  for (const auto& x : left)
    for (const auto& y : right) all = add(all, {multiplied(algebra, x, y)});
  return all;
}

}  // namespace napkin
