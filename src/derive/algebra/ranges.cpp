// Interval arithmetic over expressions; see ranges.hpp.
#include "derive/algebra/ranges.hpp"

#include <algorithm>
#include <cmath>

#include "diagram/match.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

// Zero times infinity is zero, because an infinite bound is never reached.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Range product(Range a, Range b) {
  const auto all = {times(a.least, b.least), times(a.least, b.greatest), times(a.greatest, b.least),
                    times(a.greatest, b.greatest)};
  return {std::min(all), std::max(all)};
}
Range sum(Range a, Range b) { return {a.least + b.least, a.greatest + b.greatest}; }
Range negated(Range a) { return {-a.greatest, -a.least}; }
Range joined(Range a, Range b) { return {std::min(a.least, b.least), std::max(a.greatest, b.greatest)}; }
Range magnitude(Range a) {
  if (a.least >= 0) return a;
  return a.greatest <= 0 ? negated(a) : Range{0, std::max(-a.least, a.greatest)};
}
Range exponential(Range a, double scale) { return {std::exp(scale * a.least), std::exp(scale * a.greatest)}; }
Range raised(Range a, double power) {
  const bool even = std::fmod(power, 2) == 0;
  if (a.least < 0 && even) a = magnitude(a);
  const bool grows = a.least >= 0 || (integer(power) && power > 0);
  if (!grows) return {};
  if (power >= 0) return {std::pow(a.least, power), std::pow(a.greatest, power)};
  return {std::pow(a.greatest, power), a.least == 0 ? infinity : std::pow(a.least, power)};
}

// Whether a function of one argument rises on all numbers.
bool rises(const Pointwise& function) {
  const auto row = order_of(function);
  return function.arity == 1 && row.order == Order::rising && !row.of_positive;
}
double applied(const Pointwise& function, double number) { return function.value(&number); }

}  // namespace

bool is_floating(Datatype type) { return row(type).round(0.5) == 0.5; }
bool saturates(Datatype type) { return std::isfinite(row(type).round(infinity)); }

double greatest(Datatype type) {
  const auto round = row(type).round;
  const auto holds = [&](double value) { return std::isfinite(value) && round(value) == value; };
  double digit = 1;
  while (holds(2 * digit)) digit *= 2;
  double all = digit;
  for (digit /= 2; all + digit != all; digit /= 2)
    if (holds(all + digit)) all += digit;
  return all;
}

bool reaches_as_far(Datatype type, Datatype other) { return is_floating(type) && greatest(type) > greatest(other) / 2; }

bool holds_all_of(Datatype type, Datatype other) {
  const auto bytes = [](Datatype t) { return row(t).bytes; };
  const bool wider = bytes(type) > bytes(other) && (is_floating(type) || !is_floating(other));
  return type == other || (wider && reaches_as_far(type, other) && bytes(other) == 1) ||
         (wider && reaches_as_far(type, other) && is_floating(other));
}

double Range::magnitude() const { return std::max(std::abs(least), std::abs(greatest)); }

Range Ranges::of(ExprId e) const {
  return match(
      diagram_.at(e).node,
      [](const Constant& c) {
        return Range{c.value, c.value};
      },
      [&](const Position& p) {
        return Range{0, of_size(diagram_.at(p.wire).axis, 1).greatest};
      },
      [&](const Size& s) { return of_size(s.axis, 1); },
      [&](const Access& a) {
        if (const auto known = known_(a.array)) return *known;
        const auto type = diagram_.at(a.array).stored();
        const double most = greatest(type);
        return Range{row(type).round(-most) < 0 ? -most : 0, most};
      },
      [&](const Apply& a) { return of(a); }, [&](const Cast& c) { return of(c.value); },
      [](const Reduce&) { return Range{}; });
}

Range Ranges::of_size(AxisId axis, double least) const {
  const auto size = diagram_.at(axis).size;
  return {least, size ? static_cast<double>(*size) : infinity};
}

Range Ranges::of(const Apply& a) const {
  const auto argument = [&](std::size_t i) { return of(a.arguments[i]); };
  const auto* power = a.arguments.size() > 1 ? std::get_if<Constant>(&diagram_.at(a.arguments[1]).node) : nullptr;
  switch (a.function->role) {
    case Role::add:
      return sum(argument(0), argument(1));
    case Role::subtract:
      return sum(argument(0), negated(argument(1)));
    case Role::negate:
      return negated(argument(0));
    case Role::multiply:
      return a.arguments[0] == a.arguments[1] ? raised(argument(0), 2) : product(argument(0), argument(1));
    case Role::divide:
      return product(argument(0), raised(argument(1), -1));
    case Role::power:
      return power ? raised(argument(0), power->value) : Range{};
    case Role::root:
      return raised(argument(0), 0.5);
    case Role::inverse_root:
      return raised(argument(0), -0.5);
    case Role::exponential:
      return exponential(argument(0), a.function->scale);
    case Role::magnitude:
      return magnitude(argument(0));
    case Role::choose:
      return joined(argument(1), argument(2));
    case Role::compare:
    case Role::logic:
      return {0, 1};
    case Role::greatest:
      return {std::max(argument(0).least, argument(1).least), std::max(argument(0).greatest, argument(1).greatest)};
    case Role::least:
      return {std::min(argument(0).least, argument(1).least), std::min(argument(0).greatest, argument(1).greatest)};
    case Role::exponential_of_difference:
    case Role::logarithm:
    case Role::other:
      break;
  }
  if (rises(*a.function)) return {applied(*a.function, argument(0).least), applied(*a.function, argument(0).greatest)};
  return a.function->positive ? Range{0, infinity} : Range{};
}

Range Ranges::of(const Term& term) const {
  Range all = product({term.coefficient, term.coefficient}, exponential(of(term.exponent), 1));
  for (const auto* factors : {&term.factors, &term.rounded})
    for (const auto& [base, power] : *factors) all = product(all, raised(of(base), power));
  return all;
}

Range Ranges::of(const Sum& terms) const {
  Range all{0, 0};
  for (const auto& term : terms) all = sum(all, of(term));
  return all;
}

bool Ranges::exact_in(Datatype type, ExprId e) const {
  const auto chosen_among = [&](const std::vector<ExprId>& all) {
    return std::ranges::all_of(all, [&](ExprId one) { return exact_in(type, one); });
  };
  return match(
      diagram_.at(e).node, [&](const Constant& c) { return row(type).round(c.value) == c.value; },
      [](const Position&) { return false; }, [](const Size&) { return false; },
      [&](const Access& a) { return holds_all_of(type, diagram_.at(a.array).type); },
      [&](const Apply& a) {
        const auto role = a.function->role;
        if (role == Role::choose) return chosen_among({a.arguments[1], a.arguments[2]});
        const bool picks =
            role == Role::negate || role == Role::magnitude || role == Role::greatest || role == Role::least;
        return picks && chosen_among(a.arguments);
      },
      [&](const Cast& c) { return holds_all_of(type, c.type); }, [](const Reduce&) { return false; });
}

bool Ranges::exact_in(Datatype type, const Term& term) const {
  const Factors& all = term.factors;
  return std::abs(term.coefficient) == 1 && term.exponent.empty() && term.rounded.empty() && all.size() == 1 &&
         all[0].second == 1 && exact_in(type, all[0].first);
}

}  // namespace napkin
