// Separates terms into a factor that the piece determines and one that finished reductions determine; see separate.hpp.
#include "derive/algebra/separate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "derive/algebra/build.hpp"
#include "derive/algebra/normal.hpp"

namespace napkin {
namespace {

constexpr double greatest_degree = 4;  // of a product of shifts; a state is carried for each lower power

// Only pieces are multiplied by an infinite constant outside of a sum: a sum of such pieces may be zero.
bool is_infinite(const Diagram& diagram, ExprId e) {
  const auto* constant = std::get_if<Constant>(&diagram.at(e).node);
  return constant && std::isinf(constant->value);
}

bool is_shift(Algebra& algebra, ExprId e) {
  const auto* apply = std::get_if<Apply>(&algebra.diagram.at(e).node);
  const auto role = apply ? apply->function->role : Role::other;
  return (role == Role::add || role == Role::subtract) && algebra.keeps_shifts && is_shift(algebra, normal(algebra, e));
}

// The factors of a product that do not vary with the piece; none if one factor mixes piece and state.
std::optional<Factors> waiting_factors(const Algebra& algebra, const Term& term) {
  Factors waiting;
  for (const auto& factor : term.factors) {
    const auto depends = dependence(algebra, factor.first);
    if (depends.mixed()) return {};
    if (!depends.piece) waiting.push_back(factor);
  }
  return waiting;
}

}  // namespace

bool is_shift(Algebra& algebra, const Sum& given) {
  if (!algebra.keeps_shifts || given.size() < 2 || given.size() > most_terms || !dependence(algebra, given).mixed())
    return false;
  const Sum sum = with_exponentials_as_factors(algebra, given);
  const auto alone = [](const Term& t) { return !t.cast && t.exponent.empty() && t.guards.empty(); };
  if (!std::ranges::all_of(sum, alone)) return false;
  if (std::ranges::none_of(sum, [&](const Term& t) { return dependence(algebra, t).mixed(); })) return true;
  return common_factor(algebra, sum) &&
         std::ranges::any_of(sum, [&](const Term& t) { return !dependence(algebra, t).piece; });
}

Sum with_exponentials_as_factors(const Algebra& algebra, Sum sum) {
  for (auto& term : sum) {
    if (term.cast || term.exponent.empty() || dependence(algebra, term.exponent).mixed()) continue;
    const ExprId power = build(algebra.diagram, std::exchange(term.exponent, {}));
    term.factors = combined(term.factors, {{applied(algebra.diagram, "exp", {power}), 1}});
  }
  return sum;
}

std::optional<Factors> common_factor(const Algebra& algebra, const Sum& sum) {
  std::optional<Factors> common;
  for (const auto& term : sum) {
    if (term.cast || term.unrounded || !term.exponent.empty() || !term.moved.empty()) return {};
    if (!dependence(algebra, term).piece) continue;
    const auto waiting = waiting_factors(algebra, term);
    if (!waiting || (common && *common != *waiting)) return {};
    common = waiting;
  }
  return common;
}

std::variant<SeparatedTerm, ExprId> separate(Algebra& algebra, const Term& term) {
  SeparatedTerm parts;
  parts.state.coefficient = term.coefficient;
  parts.guards = term.guards;
  double degree = 0;
  const auto sort = [&](const Factors& factors, Factors& piece, Factors& state) -> std::optional<ExprId> {
    for (const auto& factor : factors) {
      const auto depends = dependence(algebra, factor.first);
      if (depends.mixed()) {
        const bool fits = integer(factor.second) && factor.second > 0;
        if (!fits || !is_shift(algebra, factor.first)) return factor.first;
        if ((degree += factor.second) > greatest_degree) return factor.first;
        parts.shifts.push_back({factor.first, factor.second, &factors == &term.rounded});
        continue;
      }
      const bool rounded = &factors == &term.rounded && !depends.state;
      auto& side = depends.piece || rounded || is_infinite(algebra.diagram, factor.first) ? piece : state;
      side = combined(side, {factor});
    }
    return {};
  };
  if (const auto mixing = sort(term.factors, parts.piece.factors, parts.state.factors)) return *mixing;
  if (const auto mixing = sort(term.rounded, parts.piece.rounded, parts.state.factors)) return *mixing;
  const bool piecewise = dependence(algebra, term.exponent).piece;
  for (const auto& part : term.exponent) {
    const auto depends = dependence(algebra, part);
    if (depends.mixed()) return build(algebra.diagram, part);
    (piecewise && !depends.state ? parts.piece : parts.state).exponent.push_back(part);
  }
  const bool rounds = std::ranges::any_of(parts.shifts, &Shift::rounded);
  if (!parts.piece.rounded.empty() || !parts.piece.exponent.empty() || rounds) parts.piece.cast = term.cast;
  parts.piece.unrounded = term.unrounded;
  parts.piece.moved = term.moved;
  return parts;
}

}  // namespace napkin
