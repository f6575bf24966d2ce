// Functions that keep or reverse the order of numbers are applied in finish, and the extremes of their arguments are
// carried; see orders.hpp.
#include "derive/states/orders.hpp"

#include <cmath>
#include <functional>
#include <utility>

#include "derive/states/guards.hpp"
#include "derive/states/notes.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

using Function = std::function<ExprId(ExprId)>;

// ---- functions ----

// A function that falls and then rises is greatest at one of its two ends.
std::optional<Sum> extreme_of_valley(StreamAttempt& attempt, const Extreme& of, ExprId e, const Function& f) {
  auto& algebra = attempt.algebra;
  const Sum argument = normal(algebra, e);
  if (of.column.fold->combine->role != Role::greatest) return refuse_mixing(attempt, f(e)), std::nullopt;
  const Extreme turned = opposite_of(of);
  const auto greater = [&](ExprId one, ExprId other) {
    return applied(attempt.scratch, of.column.fold->combine->name, {f(one), f(other)});
  };
  const auto shown = [&](const Extreme& end) {
    return build(attempt.scratch, reduction(attempt, end.column, argument));
  };
  const ExprId before = build(attempt.scratch, reduction(attempt, of.column, as_factor(f(e))));
  note_step(attempt, Rule::cascade, before, greater(shown(of), shown(turned)),
            "a function that falls and then rises is greatest at one of its two ends");
  const auto top = extreme(attempt, of, argument), bottom = top ? extreme(attempt, turned, argument) : std::nullopt;
  if (!bottom) return {};
  return as_factor(greater(build(attempt.scratch, *top), build(attempt.scratch, *bottom)));
}

// The extreme of f(e), computed from the extremes of e.
std::optional<Sum> ordered(StreamAttempt& attempt, const Extreme& of, ExprId e, Order order, const Function& f) {
  auto& algebra = attempt.algebra;
  attempt.found.rules.insert({Rule::cascade, Rule::finish});
  if (order == Order::valley) return extreme_of_valley(attempt, of, e, f);
  const bool rises = order == Order::rising;
  const Extreme kept = rises ? of : opposite_of(of);
  const Sum argument = normal(algebra, e);
  const ExprId before = build(attempt.scratch, reduction(attempt, of.column, as_factor(f(e))));
  note_step(attempt, Rule::cascade, before, f(build(attempt.scratch, reduction(attempt, kept.column, argument))),
            rises ? "a growing function is applied once, to the extreme of its argument"
                  : "a falling function is applied once, to the opposite extreme of its argument");
  const auto value = extreme(attempt, kept, argument);
  return value ? std::optional(as_factor(f(build(attempt.scratch, *value)))) : std::nullopt;
}

std::optional<Sum> extreme_of_function(StreamAttempt& attempt, const Extreme& of, ExprId e, const Apply& apply) {
  auto& algebra = attempt.algebra;
  const auto row = order_of(*apply.function);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < apply.arguments.size(); ++i)
    if (!settled(attempt, of, apply.arguments[i])) open.push_back(i);
  if (row.order == Order::none || open.size() != 1) return refuse_mixing(attempt, e), std::nullopt;
  const auto argument = apply.arguments[open[0]];
  const bool positive = is_positive(algebra, argument);
  if (row.of_positive && !positive) return refuse_mixing(attempt, e), std::nullopt;
  const auto order = row.order == Order::valley && positive ? Order::rising : row.order;
  return ordered(attempt, of, argument, order, [&](ExprId value) {
    auto arguments = apply.arguments;
    arguments[open[0]] = value;
    return applied(attempt.scratch, apply.function->name, std::move(arguments));
  });
}

// ---- choices ----

// The extreme of `e` over the positions where `condition` holds; none if `e` counts for nothing. An extreme over no
// positions may give NaN, as infinity minus infinity does; then its value is not used.
std::optional<Sum> extreme_where(StreamAttempt& attempt, Extreme of, ExprId condition, ExprId e) {
  auto& algebra = attempt.algebra;
  const ExprId identity = attempt.scratch.intern(Constant{of.column.fold->identity});
  if (e == identity) return as_factor(e);
  of.where = of.where ? applied(attempt.scratch, "and", {*of.where, condition}) : condition;
  if (!dependence(algebra, e).state) return extreme_of_piece(attempt, of, as_factor(e));
  const auto value = extreme(attempt, of, normal(algebra, e));
  if (!value) return {};
  const ExprId any = any_holds(attempt, of.column, *of.where);
  return as_factor(applied(attempt.scratch, "where", {any, build(attempt.scratch, *value), identity}));
}

// where(c, a, b): the extreme of a where c holds, and that of b elsewhere.
std::optional<Sum> extreme_of_choice(StreamAttempt& attempt, const Extreme& of, const Apply& choice) {
  auto& algebra = attempt.algebra;
  const auto& fold = *of.column.fold;
  const ExprId condition = choice.arguments[0];
  if (dependence(algebra, condition).state) return refuse_mixing(attempt, condition), std::nullopt;
  const auto one = extreme_where(attempt, of, condition, choice.arguments[1]);
  if (!one) return {};
  const auto other = extreme_where(attempt, of, applied(attempt.scratch, "not", {condition}), choice.arguments[2]);
  if (!other) return {};
  const ExprId a = build(attempt.scratch, *one), b = build(attempt.scratch, *other);
  const auto counts_for_something = [&](ExprId value) {
    const auto* constant = std::get_if<Constant>(&attempt.scratch.at(value).node);
    return !constant || constant->value != fold.identity;
  };
  if (!counts_for_something(b)) return one;
  return counts_for_something(a) ? as_factor(applied(attempt.scratch, fold.combine->name, {a, b})) : *other;
}

// ---- expressions ----

std::optional<Sum> extreme_of(StreamAttempt& attempt, const Extreme& of, ExprId e) {
  auto& algebra = attempt.algebra;
  const auto node = attempt.scratch.at(e).node;
  if (const auto* cast = std::get_if<Cast>(&node))
    return ordered(attempt, of, cast->value, Order::rising,
                   [&](ExprId value) { return cast_to(attempt.scratch, cast->type, value); });
  const auto* apply = std::get_if<Apply>(&node);
  if (!apply) return refuse_mixing(attempt, e), std::nullopt;
  switch (apply->function->role) {
    case Role::add:
    case Role::subtract:
    case Role::negate:
    case Role::multiply:
    case Role::divide:
    case Role::power:
      return extreme(attempt, of, normal(algebra, e));
    case Role::choose:
      return extreme_of_choice(attempt, of, *apply);
    default:
      return extreme_of_function(attempt, of, e, *apply);
  }
}

}  // namespace

std::optional<Sum> extreme_of_power(StreamAttempt& attempt, const Extreme& of, std::pair<ExprId, double> factor) {
  auto& algebra = attempt.algebra;
  const auto [base, power] = factor;
  if (power == 1) return extreme_of(attempt, of, base);
  const bool positive = is_positive(algebra, base), whole = integer(power) && power > 0;
  if (!positive && !whole) return refuse_mixing(attempt, base), std::nullopt;
  const bool even = std::fmod(power, 2) == 0;
  const auto order = power < 0 ? Order::falling : positive || !even ? Order::rising : Order::valley;
  return ordered(attempt, of, base, order, [&, to = power](ExprId value) {
    Term raised;
    raised.factors = {{value, to}};
    return build(attempt.scratch, raised);
  });
}

}  // namespace napkin
