// Turns sums of products back into readable expressions; see expression.hpp.
#include "grad/expression.hpp"

#include <algorithm>
#include <cmath>

namespace napkin::grad {

namespace {

ExprId raised(Algebra& algebra, ExprId base, double exponent) {
  if (exponent == 1) return base;
  if (exponent == 0.5) return algebra.apply("sqrt", {base});
  return algebra.apply("^", {base, algebra.number(exponent)});
}

// exp(a)^k exp(b)^n is exp(k a + n b).
void merge_exponentials(Algebra& algebra, std::map<ExprId, double>& factors) {
  std::map<const Pointwise*, Sum> exponents;
  std::map<const Pointwise*, ExprId> last;
  std::map<const Pointwise*, int> count;
  std::erase_if(factors, [&](const auto& factor) {
    const auto* exp = std::get_if<Apply>(&algebra.diagram().at(factor.first).node);
    if (!exp || exp->function->role != Role::exponential) return false;
    const auto function = exp->function;
    const auto operand = Sum(algebra.sum_of(exp->arguments[0]));
    for (auto term : operand) {
      term.coefficient *= factor.second;
      add(exponents[function], term);
    }
    last[function] = factor.first;
    count[function] += factor.second == 1 ? 1 : 2;
    return true;
  });
  for (const auto& [function, exponent] : exponents)
    factors[count[function] == 1 ? last[function] : algebra.apply(*function, {expression(algebra, exponent)})] = 1;
}

}  // namespace

ExprId inner_sum(Algebra& algebra, const Sum& sum) {
  auto ordered = sum;
  std::stable_partition(ordered.begin(), ordered.end(), [](const Product& product) { return product.coefficient > 0; });
  ExprId made = expression(algebra, ordered[0]);
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    auto term = ordered[i];
    const bool minus = term.coefficient < 0;
    if (minus) term.coefficient = -term.coefficient;
    made = algebra.apply(minus ? "-" : "+", {made, expression(algebra, term)});
  }
  return made;
}

ExprId expression(Algebra& algebra, const Sum& sum) {
  if (sum.empty()) return algebra.number(0);
  return expression(algebra, algebra.single(sum));
}

ExprId expression(Algebra& algebra, const Product& product) {
  auto factors = product.factors;
  merge_exponentials(algebra, factors);
  std::vector<ExprId> above, below, conditions;
  for (const auto& [factor, exponent] : factors) {
    if (algebra.is_condition(factor)) {
      conditions.push_back(factor);
    } else {
      (exponent < 0 ? below : above).push_back(raised(algebra, factor, std::abs(exponent)));
    }
  }
  const auto all_of = [&](const std::vector<ExprId>& list, std::string_view sign) {
    ExprId made = list[0];
    for (std::size_t i = 1; i < list.size(); ++i) made = algebra.apply(sign, {made, list[i]});
    return made;
  };
  const bool minus = product.coefficient == -1 && !above.empty();
  if ((product.coefficient != 1 && !minus) || above.empty())
    above.insert(above.begin(), algebra.number(product.coefficient));
  ExprId made = all_of(above, "*");
  for (const auto divisor : below) made = algebra.apply("/", {made, divisor});
  if (minus) made = algebra.apply("neg", {made});
  return conditions.empty() ? made : algebra.apply("where", {all_of(conditions, "and"), made, algebra.number(0)});
}

}  // namespace napkin::grad
