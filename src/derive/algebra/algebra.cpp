// Asks what expressions depend on, and whether they are ever negative; see algebra.hpp.
#include "derive/algebra/algebra.hpp"

#include <algorithm>
#include <cmath>

#include "diagram/match.hpp"

namespace napkin {

Dependence dependence(const Algebra& algebra, ExprId e) {
  return match(
      algebra.diagram.at(e).node, [](const Constant&) { return Dependence{}; },
      [](const Size&) { return Dependence{}; },
      [&](const Position& p) {
        return Dependence{p.wire == algebra.meaning.wire, false};
      },
      [&](const Access& a) { return algebra.meaning.dependence(a); },
      [&](const Apply& a) {
        if (a.function->role == Role::compare && algebra.meaning.ranks && algebra.meaning.ranks(e))
          return Dependence{true, false};
        Dependence all;
        for (const auto argument : a.arguments) all = all | dependence(algebra, argument);
        return all;
      },
      [&](const Cast& c) { return dependence(algebra, c.value); },
      [&](const Reduce& r) { return dependence(algebra, r.body); });
}

Dependence dependence(const Algebra& algebra, const Term& term) {
  Dependence all = dependence(algebra, term.exponent);
  for (const auto& [base, power] : term.factors) all = all | dependence(algebra, base);
  for (const auto& [base, power] : term.rounded) all = all | dependence(algebra, base);
  return all;
}

Dependence dependence(const Algebra& algebra, const Sum& sum) {
  Dependence all;
  for (const auto& term : sum) all = all | dependence(algebra, term);
  return all;
}

bool is_positive(const Algebra& algebra, ExprId e) {
  return match(
      algebra.diagram.at(e).node, [](const Constant& c) { return c.value >= 0; }, [](const Size&) { return true; },
      [](const Position&) { return true; }, [&](const Access& a) { return algebra.meaning.positive(a.array); },
      [&](const Apply& a) {
        const auto all = [&] {
          return std::ranges::all_of(a.arguments, [&](ExprId x) { return is_positive(algebra, x); });
        };
        const auto role = a.function->role;
        if (role == Role::choose) return is_positive(algebra, a.arguments[1]) && is_positive(algebra, a.arguments[2]);
        return a.function->positive || ((role == Role::add || role == Role::multiply || role == Role::divide) && all());
      },
      [&](const Cast& c) { return is_positive(algebra, c.value); }, [](const Reduce&) { return false; });
}

bool is_positive(const Algebra& algebra, const Term& term) {
  const auto fine = [&](const auto& f) {
    return (integer(f.second) && std::fmod(f.second, 2) == 0) || is_positive(algebra, f.first);
  };
  return term.coefficient > 0 && std::ranges::all_of(term.factors, fine) && std::ranges::all_of(term.rounded, fine);
}

bool holds_exponential(const Diagram& diagram, ExprId e) {
  return match(
      diagram.at(e).node, [](const Constant&) { return false; }, [](const Size&) { return false; },
      [](const Position&) { return false; }, [](const Access&) { return false; },
      [&](const Apply& a) {
        return a.function->role == Role::exponential || a.function->role == Role::exponential_of_difference ||
               std::ranges::any_of(a.arguments, [&](ExprId x) { return holds_exponential(diagram, x); });
      },
      [&](const Cast& c) { return holds_exponential(diagram, c.value); }, [](const Reduce&) { return false; });
}

}  // namespace napkin
