// Separates terms into a factor that the piece determines and one that finished reductions determine, and builds
// expressions from terms; see algebra.hpp.
#include <algorithm>
#include <cmath>
#include <map>

#include "derive/algebra/algebra.hpp"

namespace napkin {

constexpr double greatest_degree = 4;  // of a product of shifts; a state is carried for each lower power

std::variant<Algebra::Separated, ExprId> Algebra::separate(const Term& term) {
  Separated parts;
  parts.state.coefficient = term.coefficient;
  parts.guards = term.guards;
  double degree = 0;
  const auto sort = [&](const Factors& factors, Factors& piece, Factors& state) -> std::optional<ExprId> {
    for (const auto& factor : factors) {
      const auto depends = dependence(factor.first);
      if (depends.mixed()) {
        const bool fits = integer(factor.second) && factor.second > 0;
        if (!fits || !is_shift(factor.first)) return factor.first;
        if ((degree += factor.second) > greatest_degree) return factor.first;
        parts.shifts.push_back({factor.first, factor.second, &factors == &term.rounded});
        continue;
      }
      const bool rounded = &factors == &term.rounded && !depends.state;
      auto& side = depends.piece || rounded || is_infinite(factor.first) ? piece : state;
      side = combined(side, {factor});
    }
    return {};
  };
  if (const auto mixing = sort(term.factors, parts.piece.factors, parts.state.factors)) return *mixing;
  if (const auto mixing = sort(term.rounded, parts.piece.rounded, parts.state.factors)) return *mixing;
  const bool piecewise = dependence(term.exponent).piece;
  for (const auto& part : term.exponent) {
    const auto depends = dependence(part);
    if (depends.mixed()) return build(part);
    (piecewise && !depends.state ? parts.piece : parts.state).exponent.push_back(part);
  }
  const bool rounds = std::ranges::any_of(parts.shifts, &Shift::rounded);
  if (!parts.piece.rounded.empty() || !parts.piece.exponent.empty() || rounds) parts.piece.cast = term.cast;
  parts.piece.unrounded = term.unrounded;
  parts.piece.moved = term.moved;
  return parts;
}

ExprId Algebra::apply(std::string_view function, std::vector<ExprId> arguments) {
  return diagram_.intern(Apply{find_pointwise(function), std::move(arguments)});
}

ExprId Algebra::cast_to(Datatype type, ExprId e) {
  const auto* access = std::get_if<Access>(&diagram_.at(e).node);
  return access && diagram_.at(access->array).type == type ? e : diagram_.intern(Cast{type, e});
}

ExprId Algebra::powered(ExprId base, double power) {
  if (power == 1) return base;
  if (power == 0.5) return apply("sqrt", {base});
  if (power == 2) return apply("*", {base, base});
  return apply("^", {base, diagram_.intern(Constant{power})});
}

// Writes a^k / b^k as (a / b)^k: the powers of two large numbers may be out of range although that of the quotient is
// not.
Factors Algebra::with_quotients(const Factors& factors) {
  std::map<double, Product> by_power;
  for (const auto& [base, power] : factors)
    if (std::abs(power) > 1) (power > 0 ? by_power[power].over : by_power[-power].under).push_back(base);
  Factors all;
  for (const auto& [base, power] : factors) {
    const auto found = by_power.find(std::abs(power));
    if (found == by_power.end() || found->second.over.empty() || found->second.under.empty())
      all.push_back({base, power});
    else if (found->second.over[0] == base)
      all.push_back({product(found->second), power});
  }
  return all;
}

Algebra::Product Algebra::parts(const Term& term) {
  Product all;
  const double size = std::abs(term.coefficient);
  if (size != 1) all.over.push_back(diagram_.intern(Constant{size}));
  const auto put = [&](const Factors& factors, Product& to) {
    for (const auto& [base, power] : with_quotients(factors))
      (power > 0 ? to.over : to.under).push_back(powered(base, std::abs(power)));
  };
  const auto exponential = [&](Product& to) {
    if (!term.exponent.empty()) to.over.push_back(apply("exp", {build(term.exponent)}));
  };
  if (term.cast) {
    Product inside;
    exponential(inside);
    put(term.rounded, inside);
    all.over.push_back(cast_to(*term.cast, product(inside)));
  } else {
    exponential(all);
  }
  put(term.factors, all);
  return all;
}

ExprId Algebra::product(const Product& parts) {
  const auto times = [&](const std::vector<ExprId>& all) {
    ExprId value = all[0];
    for (std::size_t i = 1; i < all.size(); ++i) value = apply("*", {value, all[i]});
    return value;
  };
  const ExprId over = parts.over.empty() ? diagram_.intern(Constant{1}) : times(parts.over);
  return parts.under.empty() ? over : apply("/", {over, times(parts.under)});
}

// Only pieces are multiplied by an infinite constant outside of a sum: a sum of such pieces may be zero.
bool Algebra::is_infinite(ExprId e) const {
  const auto* constant = std::get_if<Constant>(&diagram_.at(e).node);
  return constant && std::isinf(constant->value);
}

ExprId Algebra::all_of(const Guards& guards) {
  ExprId all = guards[0];
  for (std::size_t i = 1; i < guards.size(); ++i) all = apply("and", {all, guards[i]});
  return all;
}

Guards Algebra::either(const Guards& a, const Guards& b) {
  if (a == b || a.empty() || b.empty()) return a == b ? a : Guards{};
  const ExprId one = all_of(a), other = all_of(b);
  const ExprId not_one = apply("not", {one}), not_other = apply("not", {other});
  if (not_one == other || not_other == one) return {};
  return {apply("or", {one, other})};
}

// The expression of a term without the sign of its coefficient.
ExprId Algebra::without_sign(const Term& term) {
  const ExprId size = product(parts(term));
  if (term.guards.empty()) return size;
  const ExprId zero = diagram_.intern(Constant{0});
  return apply("where", {all_of(term.guards), size, zero});
}

ExprId Algebra::build(const Term& term) {
  const ExprId size = without_sign(term);
  return term.coefficient < 0 ? apply("neg", {size}) : size;
}

ExprId Algebra::build(const Sum& sum) {
  if (sum.empty()) return diagram_.intern(Constant{0});
  const auto first = std::ranges::find_if(sum, [](const Term& t) { return t.coefficient > 0; });
  const auto start = first == sum.end() ? sum.begin() : first;
  ExprId value = build(*start);
  for (auto term = sum.begin(); term != sum.end(); ++term)
    if (term != start) value = apply(term->coefficient < 0 ? "-" : "+", {value, without_sign(*term)});
  return value;
}

}  // namespace napkin
