// sum[X](rest * dP) with dP = sum[D](G) is sum[X, D](rest * G). If a statement V = sum[Y](H) has a product H that
// divides rest * G, and the quotient does not vary along Y, this is sum[X + D - Y](quotient * V). V is already
// computed, so Y is not summed again.
#include <algorithm>

#include "grad/backward.hpp"
#include "grad/expression.hpp"

namespace napkin::grad {
namespace {

bool divides(const Product& divisor, const Product& product) {
  return std::ranges::all_of(divisor.factors, [&](const auto& factor) {
    const auto found = product.factors.find(factor.first);
    return found != product.factors.end() && found->second * factor.second > 0 &&
           std::abs(found->second) >= std::abs(factor.second);
  });
}

// A product with one sum among its factors: outside * sum[over](inside).
struct OneSum {
  Product outside;
  std::vector<WireId> over;
  Product inside;
};
std::optional<OneSum> one_sum(Algebra& algebra, const Sum& sum) {
  if (sum.size() != 1) return std::nullopt;
  std::optional<OneSum> found;
  for (const auto& [factor, exponent] : sum[0].factors) {
    const auto node = algebra.diagram().at(factor).node;
    const auto* reduce = std::get_if<Reduce>(&node);
    if (!reduce || reduce->reduction->combine->role != Role::add || exponent != 1) continue;
    const Sum body = algebra.sum_of(reduce->body);
    if (body.size() != 1 || found) return std::nullopt;
    found.emplace();
    found->outside = times(sum[0], {1, {{factor, -1}}});
    found->over = reduce->over;
    found->inside = body[0];
  }
  return found;
}

bool meet(const std::set<WireId>& some, const std::vector<WireId>& others) {
  return std::ranges::any_of(others, [&](WireId wire) { return some.contains(wire); });
}

// The product with one gradient replaced by its sum, and all wires that are then summed.
std::optional<OneSum> opened(Backward& all, const std::vector<WireId>& over, const Product& product) {
  for (const auto& [array, value] : all.values) {
    const auto found = product.factors.find(all.algebra.read(array));
    if (found == product.factors.end() || found->second != 1) continue;
    const auto inner = one_sum(all.algebra, value);
    if (!inner) continue;
    auto rest = product;
    rest.factors.erase(found->first);
    if (meet(all.algebra.free(rest), inner->over)) continue;
    auto wires = over;
    wires.insert(wires.end(), inner->over.begin(), inner->over.end());
    OneSum wide;
    wide.over = wires;
    wide.inside = times(times(rest, inner->outside), inner->inside);
    return wide;
  }
  return std::nullopt;
}

std::optional<Sum> with_statement(Backward& all, const OneSum& wide, const Statement& statement) {
  const auto known = one_sum(all.algebra, Sum(all.algebra.sum_of(statement.value)));
  if (!known || !divides(known->inside, wide.inside)) return std::nullopt;
  const bool safe = std::ranges::all_of(known->outside.factors, [&](const auto& factor) {
    return (factor.second < 0 || std::holds_alternative<Size>(all.diagram.at(factor.first).node)) &&
           !all.algebra.is_condition(factor.first);
  });
  const auto quotient = times(wide.inside, to_power(known->inside, -1));
  if (!safe || meet(all.algebra.free(quotient), known->over)) return std::nullopt;
  std::vector<WireId> over;
  for (const auto wire : wide.over)
    if (std::ranges::find(known->over, wire) == known->over.end()) over.push_back(wire);
  if (over.size() + known->over.size() != wide.over.size()) return std::nullopt;
  const Product read{1, {{all.algebra.read(statement.output), 1}}};
  return all.algebra.reduced(over, times(times(quotient, read), to_power(known->outside, -1)));
}

// The factors in which two equal products differ, as an equation.
std::string equation(Backward& all, const Product& plain, const Product& found) {
  Product left, right;
  for (const auto& [factor, exponent] : times(plain, to_power(found, -1)).factors)
    (exponent > 0 ? left : right).factors[factor] = std::abs(exponent);
  const auto text = [&](const Product& product) { return in_axes(all.diagram, expression(all.algebra, product)); };
  return text(left) + " = " + text(right);
}

}  // namespace

Sum reassociated(Backward& all, const std::vector<WireId>& over, const Product& product) {
  const auto plain = all.algebra.reduced(over, product);
  const auto wide = over.empty() ? std::nullopt : opened(all, over, product);
  if (!wide) return plain;
  for (const auto& statement : all.diagram.statements) {
    const auto found = with_statement(all, *wide, statement);
    if (!found) continue;
    const auto step = equation(all, all.algebra.single(plain), all.algebra.single(*found));
    if (std::ranges::find(all.steps, step) == all.steps.end()) all.steps.push_back(step);
    return *found;
  }
  return plain;
}

}  // namespace napkin::grad
