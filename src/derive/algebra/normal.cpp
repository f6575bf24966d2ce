// Rewrites expressions into normal forms; see normal.hpp.
#include "derive/algebra/normal.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "derive/algebra/branches.hpp"
#include "derive/algebra/build.hpp"
#include "derive/algebra/casts.hpp"
#include "derive/algebra/factors.hpp"
#include "diagram/match.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

Sum normal_apply(Algebra& algebra, ExprId e, const Apply& a) {
  const auto argument = [&](std::size_t i) { return normal(algebra, a.arguments[i]); };
  switch (a.function->role) {
    case Role::add:
      return add(argument(0), argument(1));
    case Role::subtract:
      return add(argument(0), scale(argument(1), -1));
    case Role::negate:
      return scale(argument(0), -1);
    case Role::multiply:
      return multiplied(algebra, argument(0), argument(1));
    case Role::divide:
      return multiplied(algebra, argument(0), raised(algebra, argument(1), -1));
    case Role::power: {
      const auto* power = std::get_if<Constant>(&algebra.diagram.at(a.arguments[1]).node);
      return power ? raised(algebra, argument(0), power->value) : opaque(algebra, e, a);
    }
    case Role::root:
      return rooted(algebra, a, argument(0), 0.5);
    case Role::inverse_root:
      return rooted(algebra, a, argument(0), -0.5);
    case Role::exponential:
      return exponential(algebra.diagram, argument(0), a.function->scale);
    case Role::logarithm:
      return logarithm(algebra, a, argument(0));
    case Role::magnitude:
      return magnitude(algebra, e, a, argument(0));
    case Role::choose:
      return chosen(algebra, e, a);
    case Role::compare:
    case Role::logic:
    case Role::exponential_of_difference:
    case Role::greatest:
    case Role::least:
    case Role::other:
      break;
  }
  if (order_of(*a.function).homogeneous) return homogeneous(algebra, e, a);
  // It guards against minus infinity, so it is only taken apart if it must be.
  const bool is_difference = a.function->role == Role::exponential_of_difference;
  if (is_difference && dependence(algebra, e).mixed())
    return exponential(algebra.diagram, add(argument(0), scale(argument(1), -1)), 1);
  return opaque(algebra, e, a);
}

}  // namespace

Sum normal(Algebra& algebra, ExprId e) {
  const ExprNode node = algebra.diagram.at(e).node;
  return match(
      node,
      [&](const Constant& c) {
        if (c.value == 0) return Sum{};
        if (!std::isfinite(c.value)) return as_factor(e);
        Term term;
        term.coefficient = c.value;
        return Sum{term};
      },
      [&](const Position&) { return as_factor(e); }, [&](const Size&) { return as_factor(e); },
      [&](const Access&) {
        auto definition = algebra.meaning.definition(e);
        return definition && definition->size() <= most_terms ? *definition : as_factor(e);
      },
      [&](const Apply& a) { return normal_apply(algebra, e, a); },
      [&](const Cast& c) { return cast(algebra, e, c.type, normal(algebra, c.value)); },
      [&](const Reduce&) { return as_factor(e); });
}

Sum opaque(Algebra& algebra, ExprId e, const Apply& a) {
  std::vector<ExprId> arguments;
  std::vector<Moved> moved;
  bool state = false;
  for (const auto argument : a.arguments) {
    const Sum sum = normal(algebra, argument);
    std::ranges::copy(moved_in(sum), std::back_inserter(moved));
    state = state || dependence(algebra, sum).state || dependence(algebra, argument).state;
    arguments.push_back(
        dependence(algebra, sum).state || dependence(algebra, argument).state ? build(algebra.diagram, sum) : argument);
  }
  return state ? as_factor(algebra.diagram.intern(Apply{a.function, arguments}), moved) : as_factor(e);
}

}  // namespace napkin
