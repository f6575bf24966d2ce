// Turns expressions into sums of products.
#include "grad/algebra.hpp"

#include <algorithm>
#include <cmath>

#include "grad/expression.hpp"

namespace napkin::grad {
namespace {

constexpr double alike = 1e-14;  // relative difference below which coefficients cancel

Sum scaled(Sum sum, double by) {
  for (auto& product : sum) product.coefficient *= by;
  return sum;
}
bool is_whole(double number) { return std::nearbyint(number) == number; }
bool is_number(const Sum& sum) { return sum.empty() || (sum.size() == 1 && sum[0].factors.empty()); }
double number_in(const Sum& sum) { return sum.empty() ? 0 : sum[0].coefficient; }

}  // namespace

Product times(Product a, const Product& b) {
  a.coefficient *= b.coefficient;
  for (const auto& [factor, exponent] : b.factors) {
    const auto sum = a.factors[factor] += exponent;
    if (sum == 0) a.factors.erase(factor);
  }
  return a;
}

Product to_power(const Product& product, double exponent) {
  Product made{std::pow(product.coefficient, exponent)};
  for (const auto& [factor, own] : product.factors) made.factors[factor] = own * exponent;
  return made;
}

void add(Sum& sum, const Product& product) {
  if (product.coefficient == 0) return;
  const auto same = std::ranges::find(sum, product.factors, &Product::factors);
  if (same == sum.end()) {
    sum.push_back(product);
    return;
  }
  const auto before = std::abs(same->coefficient);
  same->coefficient += product.coefficient;
  if (std::abs(same->coefficient) <= alike * before) sum.erase(same);
}
void add(Sum& sum, const Sum& more) {
  for (const auto& product : more) add(sum, product);
}

bool is_one(const Product& product) { return product.coefficient == 1 && product.factors.empty(); }

Product common(const Sum& sum) {
  Product shared{1, sum.front().factors};
  for (const auto& product : sum) {
    std::map<ExprId, double> kept;
    for (const auto& [factor, exponent] : shared.factors) {
      const auto found = product.factors.find(factor);
      if (found == product.factors.end() || (found->second > 0) != (exponent > 0)) continue;
      kept[factor] = std::abs(found->second) < std::abs(exponent) ? found->second : exponent;
    }
    shared.factors = std::move(kept);
  }
  return shared;
}

bool Algebra::is_condition(ExprId id) const {
  const auto& node = diagram_.at(id).node;
  if (const auto* access = std::get_if<Access>(&node)) return diagram_.at(access->array).type == Datatype::boolean;
  const auto* apply = std::get_if<Apply>(&node);
  return apply && (apply->function->role == Role::compare || apply->function->role == Role::logic);
}

const std::set<WireId>& Algebra::free(ExprId id) {
  const auto found = free_.find(id);
  if (found != free_.end()) return found->second;
  const auto wires = free_wires(diagram_, id);
  return free_[id] = {wires.begin(), wires.end()};
}
std::set<WireId> Algebra::free(const Product& product) {
  std::set<WireId> all;
  for (const auto& [factor, exponent] : product.factors) all.insert(free(factor).begin(), free(factor).end());
  return all;
}

ExprId Algebra::apply(const Pointwise& function, std::vector<ExprId> arguments) {
  return diagram_.intern(Apply{&function, std::move(arguments)});
}
ExprId Algebra::apply(std::string_view function, std::vector<ExprId> arguments) {
  return apply(*find_pointwise(function), std::move(arguments));
}
ExprId Algebra::number(double value) { return diagram_.intern(Constant{value}); }
ExprId Algebra::read(ArrayId array) {
  Access access{array, {}};
  for (const auto wire : diagram_.at(array).wires) access.at.push_back({{{wire, 1}}, 0, 1});
  return diagram_.intern(std::move(access));
}
// An axis that the gradient adds has the size of a part of another one, and need not be declared if only that is left.
Product Algebra::size_of(WireId wire) {
  const auto axis = diagram_.at(wire).axis;
  if (diagram_.at(axis).span == nowhere) return {static_cast<double>(diagram_.at(axis).size.value())};
  return {1, {{diagram_.intern(Size{axis}), 1}}};
}

const Sum& Algebra::sum_of(ExprId id) {
  const auto found = sums_.find(id);
  if (found != sums_.end()) return found->second;
  auto made = normal(id);
  return sums_[id] = std::move(made);
}

Sum Algebra::opaque(ExprId id) { return {{1, {{id, 1}}}}; }

Sum Algebra::normal(ExprId id) {
  const auto node = diagram_.at(id).node;
  if (const auto* constant = std::get_if<Constant>(&node)) {
    if (!std::isfinite(constant->value)) return opaque(id);
    return constant->value == 0 ? Sum{} : Sum{{constant->value}};
  }
  if (const auto* apply = std::get_if<Apply>(&node)) return normal(id, *apply);
  const auto* reduce = std::get_if<Reduce>(&node);
  if (!reduce) return opaque(id);
  const auto body = sum_of(reduce->body);
  if (reduce->reduction->combine->role == Role::add) return reduced(reduce->over, body);
  return opaque(diagram_.intern(Reduce{reduce->reduction, reduce->over, expression(*this, body)}));
}

Sum Algebra::normal(ExprId id, const Apply& apply) {
  const auto argument = [&](std::size_t i) { return sum_of(apply.arguments[i]); };
  switch (apply.function->role) {
    case Role::add:
    case Role::subtract: {
      auto sum = argument(0);
      add(sum, scaled(argument(1), apply.function->role == Role::add ? 1 : -1));
      return sum;
    }
    case Role::negate:
      return scaled(argument(0), -1);
    case Role::multiply:
      if (argument(0).empty() || argument(1).empty()) return {};
      return {times(single(argument(0)), single(argument(1)))};
    case Role::divide:
      if (argument(0).empty() || argument(1).empty()) return argument(1).empty() ? opaque(id) : Sum{};
      return {times(single(argument(0)), to_power(single(argument(1)), -1))};
    case Role::power:
      return power(id, apply);
    case Role::root:
      return root(apply.arguments[0], 0.5);
    case Role::inverse_root:
      return root(apply.arguments[0], -0.5);
    case Role::exponential:
      return exponential(apply);
    case Role::logarithm:
      return logarithm(id, apply);
    case Role::choose:
      return choice(apply);
    case Role::compare:
    case Role::logic:
      return opaque(id);
    default: {
      auto arguments = apply.arguments;
      for (auto& one : arguments) one = expression(*this, Sum(sum_of(one)));
      return opaque(this->apply(*apply.function, std::move(arguments)));
    }
  }
}

Sum Algebra::power(ExprId id, const Apply& apply) {
  const auto exponent = sum_of(apply.arguments[1]);
  if (!is_number(exponent)) return opaque(id);
  return root(apply.arguments[0], number_in(exponent));
}

// A whole power distributes over the factors. Other powers do not, because (a^2)^(1/2) is not a; then the base stays
// one factor.
Sum Algebra::root(ExprId base, double exponent) {
  const auto sum = sum_of(base);
  if (exponent == 0) return {Product{}};
  if (is_number(sum)) {
    const auto value = std::pow(number_in(sum), exponent);
    if (value == 0) return {};
    return std::isfinite(value) ? Sum{{value}} : opaque(apply("^", {base, number(exponent)}));
  }
  if (is_whole(exponent)) return {to_power(single(sum), exponent)};
  const bool alone =
      sum.size() == 1 && sum[0].coefficient == 1 && sum[0].factors.size() == 1 && sum[0].factors.begin()->second == 1;
  return {{1, {{alone ? sum[0].factors.begin()->first : expression(*this, sum), exponent}}}};
}

Sum Algebra::exponential(const Apply& apply) {
  Product made;
  for (const auto& term : Sum(sum_of(apply.arguments[0]))) {
    const double own = term.factors.empty() ? 1 : term.coefficient;
    const auto part = this->apply(*apply.function, {expression(*this, Product{term.coefficient / own, term.factors})});
    made = times(made, term.factors.empty() ? Product{std::exp(apply.function->scale * term.coefficient)}
                                            : Product{1, {{part, own}}});
  }
  return {made};
}

// log(exp(a) b) = a + log(b).
Sum Algebra::logarithm(ExprId id, const Apply& apply) {
  const auto inside = sum_of(apply.arguments[0]);
  if (inside.size() != 1)
    return inside.empty() ? opaque(id) : opaque(this->apply(*apply.function, {expression(*this, inside)}));
  Sum sum;
  auto rest = inside[0];
  std::erase_if(rest.factors, [&](const auto& factor) {
    const auto* exp = std::get_if<Apply>(&diagram_.at(factor.first).node);
    if (!exp || exp->function->role != Role::exponential) return false;
    const auto scale = factor.second * exp->function->scale / apply.function->scale;
    add(sum, scaled(sum_of(exp->arguments[0]), scale));
    return true;
  });
  if (rest.factors.empty()) {
    add(sum, Product{std::log(rest.coefficient) / apply.function->scale});
  } else {
    add(sum, Product{1, {{this->apply(*apply.function, {expression(*this, rest)}), 1}}});
  }
  return sum;
}

Sum Algebra::choice(const Apply& apply) {
  const auto then = sum_of(apply.arguments[1]), otherwise = sum_of(apply.arguments[2]);
  if (otherwise.empty() && then.empty()) return {};
  const auto guarded = [&](ExprId condition, const Sum& value) {
    auto product = single(value);
    product.factors[condition] = 1;
    return Sum{product};
  };
  if (otherwise.empty()) return guarded(apply.arguments[0], then);
  if (then.empty()) return guarded(this->apply("not", {apply.arguments[0]}), otherwise);
  return opaque(
      this->apply(*apply.function, {apply.arguments[0], expression(*this, then), expression(*this, otherwise)}));
}

Product Algebra::single(const Sum& sum) {
  if (sum.empty()) return {0};
  if (sum.size() == 1) return sum[0];
  auto shared = common(sum);
  if (std::ranges::all_of(sum, [](const Product& product) { return product.coefficient < 0; })) shared.coefficient = -1;
  Sum inner;
  for (const auto& product : sum) add(inner, times(product, to_power(shared, -1)));
  return times(shared, {1, {{inner_sum(*this, inner), 1}}});
}

Sum Algebra::reduced(const std::vector<WireId>& over, const Sum& sum) {
  return sum.empty() ? Sum{} : reduced(over, single(sum));
}

// Factors that vary along none of the wires move out of the sum. A quotient with a condition stays inside: it may be no
// number if the condition fails.
Sum Algebra::reduced(const std::vector<WireId>& over, const Product& product) {
  Product outside{product.coefficient}, inside;
  const auto varies = [&](ExprId id) {
    return std::ranges::any_of(over, [&](WireId wire) { return free(id).contains(wire); });
  };
  const bool guarded = std::ranges::any_of(
      product.factors, [&](const auto& factor) { return is_condition(factor.first) && varies(factor.first); });
  for (const auto& [factor, exponent] : product.factors) {
    const bool stays = varies(factor) || (guarded && exponent < 0 && !std::get_if<Size>(&diagram_.at(factor).node));
    (stays ? inside : outside).factors[factor] = exponent;
  }
  std::vector<WireId> wires;
  for (const auto wire : over) {
    if (free(inside).contains(wire)) {
      wires.push_back(wire);
    } else {
      outside = times(outside, size_of(wire));
    }
  }
  if (wires.empty()) return {times(outside, inside)};
  const bool lone = inside.factors.size() == 1 && inside.factors.begin()->second == 1;
  if (lone) {
    const auto terms = sum_of(inside.factors.begin()->first);
    Sum apart;
    for (const auto& term : terms.size() > 1 ? terms : Sum{}) add(apart, reduced(wires, term));
    if (terms.size() > 1 && apart.size() < terms.size()) {
      for (auto& term : apart) term = times(outside, term);
      return apart;
    }
    const auto* nested = std::get_if<Reduce>(&diagram_.at(inside.factors.begin()->first).node);
    if (nested && nested->reduction->combine->role == Role::add) {
      auto all = nested->over;
      all.insert(all.end(), wires.begin(), wires.end());
      std::ranges::sort(all);
      return {times(outside, {1, {{diagram_.intern(Reduce{nested->reduction, all, nested->body}), 1}}})};
    }
  }
  std::ranges::sort(wires);
  return {times(outside, {1, {{diagram_.intern(Reduce{find_reduction("sum"), wires, expression(*this, inside)}), 1}}})};
}

}  // namespace napkin::grad
