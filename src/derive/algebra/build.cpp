// Builds expressions from normal forms; see build.hpp.
#include "derive/algebra/build.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace napkin {
namespace {

// The factors of the numerator of a product, and those that divide it.
struct Product {
  std::vector<ExprId> over, under;
};

ExprId powered(Diagram& diagram, ExprId base, double power) {
  if (power == 1) return base;
  if (power == 0.5) return applied(diagram, "sqrt", {base});
  if (power == 2) return applied(diagram, "*", {base, base});
  return applied(diagram, "^", {base, diagram.intern(Constant{power})});
}

ExprId product(Diagram& diagram, const Product& parts) {
  const auto times = [&](const std::vector<ExprId>& all) {
    ExprId value = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) value = applied(diagram, "*", {value, all[i]});
    return value;
  };
  const ExprId over = parts.over.empty() ? diagram.intern(Constant{1}) : times(parts.over);
  return parts.under.empty() ? over : applied(diagram, "/", {over, times(parts.under)});
}

// Writes a^k / b^k as (a / b)^k: the powers of two large numbers may be out of range although that of the quotient is
// not.
Factors with_quotients(Diagram& diagram, const Factors& factors) {
  std::map<double, Product> by_power;
  for (const auto& [base, power] : factors)
    if (std::abs(power) > 1) (power > 0 ? by_power[power].over : by_power[-power].under).push_back(base);
  Factors all;
  for (const auto& [base, power] : factors) {
    const auto found = by_power.find(std::abs(power));
    if (found == by_power.end() || found->second.over.empty() || found->second.under.empty())
      all.push_back({base, power});
    else if (found->second.over[0] == base)
      all.push_back({product(diagram, found->second), power});
  }
  return all;
}

Product parts(Diagram& diagram, const Term& term) {
  Product all;
  const double size = std::abs(term.coefficient);
  if (size != 1) all.over.push_back(diagram.intern(Constant{size}));
  const auto put = [&](const Factors& factors, Product& to) {
    for (const auto& [base, power] : with_quotients(diagram, factors))
      (power > 0 ? to.over : to.under).push_back(powered(diagram, base, std::abs(power)));
  };
  const auto exponential = [&](Product& to) {
    if (!term.exponent.empty()) to.over.push_back(applied(diagram, "exp", {build(diagram, term.exponent)}));
  };
  if (term.cast) {
    Product inside;
    exponential(inside);
    put(term.rounded, inside);
    all.over.push_back(cast_to(diagram, *term.cast, product(diagram, inside)));
  } else {
    exponential(all);
  }
  put(term.factors, all);
  return all;
}

// The expression of a term without the sign of its coefficient.
ExprId without_sign(Diagram& diagram, const Term& term) {
  const ExprId size = product(diagram, parts(diagram, term));
  if (term.guards.empty()) return size;
  const ExprId zero = diagram.intern(Constant{0});
  return applied(diagram, "where", {all_of(diagram, term.guards), size, zero});
}

}  // namespace

ExprId applied(Diagram& diagram, std::string_view function, std::vector<ExprId> arguments) {
  return diagram.intern(Apply{find_pointwise(function), std::move(arguments)});
}

ExprId cast_to(Diagram& diagram, Datatype type, ExprId e) {
  const auto* access = std::get_if<Access>(&diagram.at(e).node);
  return access && diagram.at(access->array).type == type ? e : diagram.intern(Cast{type, e});
}

ExprId all_of(Diagram& diagram, const Guards& guards) {
  ExprId all = guards[0];
  for (std::size_t i = 1; i < guards.size(); ++i) all = applied(diagram, "and", {all, guards[i]});
  return all;
}

Guards either(Diagram& diagram, const Guards& a, const Guards& b) {
  if (a == b || a.empty() || b.empty()) return a == b ? a : Guards{};
  const ExprId one = all_of(diagram, a), other = all_of(diagram, b);
  const ExprId not_one = applied(diagram, "not", {one}), not_other = applied(diagram, "not", {other});
  if (not_one == other || not_other == one) return {};
  return {applied(diagram, "or", {one, other})};
}

ExprId build(Diagram& diagram, const Term& term) {
  const ExprId size = without_sign(diagram, term);
  return term.coefficient < 0 ? applied(diagram, "neg", {size}) : size;
}

ExprId build(Diagram& diagram, const Sum& sum) {
  if (sum.empty()) return diagram.intern(Constant{0});
  const auto first = std::ranges::find_if(sum, [](const Term& t) { return t.coefficient > 0; });
  const auto start = first == sum.end() ? sum.begin() : first;
  ExprId value = build(diagram, *start);
  for (auto term = sum.begin(); term != sum.end(); ++term)
    if (term != start)
      value = applied(diagram, term->coefficient < 0 ? "-" : "+", {value, without_sign(diagram, *term)});
  return value;
}

Sum as_factor(Diagram& diagram, const Sum& sum) { return as_factor(build(diagram, sum), moved_in(sum)); }

}  // namespace napkin
