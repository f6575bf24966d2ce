// Turns sums of products back into readable expressions.
#include <algorithm>
#include <cmath>

#include "grad/algebra.hpp"

namespace napkin::grad {

ExprId Algebra::expression(const Sum& sum) {
  if (sum.empty()) return number(0);
  return expression(single(sum));
}

// The expression of a sum. A term that is not subtracted comes first, if there is one.
ExprId Algebra::inner_sum(const Sum& sum) {
  auto ordered = sum;
  std::stable_partition(ordered.begin(), ordered.end(), [](const Product& product) { return product.coefficient > 0; });
  ExprId made = expression(ordered[0]);
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    auto term = ordered[i];
    const bool minus = term.coefficient < 0;
    if (minus) term.coefficient = -term.coefficient;
    made = apply(minus ? "-" : "+", {made, expression(term)});
  }
  return made;
}

ExprId Algebra::raised(ExprId base, double exponent) {
  if (exponent == 1) return base;
  if (exponent == 0.5) return apply("sqrt", {base});
  return apply("^", {base, number(exponent)});
}

// exp(a)^k exp(b)^n is exp(k a + n b).
void Algebra::merge_exponentials(std::map<ExprId, double>& factors) {
  std::map<const Pointwise*, Sum> exponents;
  std::map<const Pointwise*, ExprId> last;
  std::map<const Pointwise*, int> count;
  std::erase_if(factors, [&](const auto& factor) {
    const auto* exp = std::get_if<Apply>(&diagram_.at(factor.first).node);
    if (!exp || exp->function->role != Role::exponential) return false;
    const auto function = exp->function;
    const auto operand = Sum(sum_of(exp->arguments[0]));
    for (auto term : operand) {
      term.coefficient *= factor.second;
      add(exponents[function], term);
    }
    last[function] = factor.first;
    count[function] += factor.second == 1 ? 1 : 2;
    return true;
  });
  for (const auto& [function, exponent] : exponents)
    factors[count[function] == 1 ? last[function] : apply(*function, {expression(exponent)})] = 1;
}

ExprId Algebra::expression(const Product& product) {
  auto factors = product.factors;
  merge_exponentials(factors);
  std::vector<ExprId> above, below, conditions;
  for (const auto& [factor, exponent] : factors) {
    if (is_condition(factor)) {
      conditions.push_back(factor);
    } else {
      (exponent < 0 ? below : above).push_back(raised(factor, std::abs(exponent)));
    }
  }
  const auto all_of = [&](const std::vector<ExprId>& list, std::string_view sign) {
    ExprId made = list[0];
    for (std::size_t i = 1; i < list.size(); ++i) made = apply(sign, {made, list[i]});
    return made;
  };
  const bool minus = product.coefficient == -1 && !above.empty();
  if ((product.coefficient != 1 && !minus) || above.empty()) above.insert(above.begin(), number(product.coefficient));
  ExprId made = all_of(above, "*");
  for (const auto divisor : below) made = apply("/", {made, divisor});
  if (minus) made = apply("neg", {made});
  return conditions.empty() ? made : apply("where", {all_of(conditions, "and"), made, number(0)});
}

}  // namespace napkin::grad
