// Infinities followed through expressions; see finite.hpp.
#include "derive/algebra/finite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "diagram/contains.hpp"
#include "diagram/match.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

Ends ends_of(double value) { return {value == -infinity, value == infinity, std::isnan(value)}; }

Ends finite_if(bool finite) { return finite ? Ends{} : any_ends; }

// Gives exp(a - b), and exp(a) if both are the same infinity, so the difference alone never makes NaN.
Ends exponential_of_difference(Ends a, Ends b) { return {false, a.above || b.below, a.none || b.none}; }

// The ends of arrays, each computed once.
class ProducedEnds {
 public:
  ProducedEnds(const Diagram& diagram, const std::function<std::optional<Produced>(ArrayId)>& produced)
      : diagram_(diagram), produced_(produced) {}

  Ends of(ExprId e) { return finite_.of(e); }

 private:
  Ends of(ArrayId array) {
    if (contains(diagram_.inputs, array)) return {};
    const bool first = known_.emplace(array, any_ends).second;
    const auto made = first ? produced_(array) : std::nullopt;
    if (made) known_[array] = made->fold ? folded_ends(*made->fold, of(made->value)) : of(made->value);
    return known_.at(array);
  }

  const Diagram& diagram_;
  const std::function<std::optional<Produced>(ArrayId)>& produced_;
  std::map<ArrayId, Ends> known_;
  Finite finite_{diagram_, [this](ArrayId array) { return of(array); },
                 Ranges(diagram_, [](ArrayId) { return std::optional<Range>(); })};
};

}  // namespace

Ends joined(Ends a, Ends b) { return {a.below || b.below, a.above || b.above, a.none || b.none}; }

Ends sum(Ends a, Ends b) {
  Ends all = joined(a, b);
  all.none = all.none || (a.below && b.above) || (a.above && b.below);
  return all;
}

Ends negated(Ends a) { return {a.above, a.below, a.none}; }

// An axis has at least one position, so an extreme is always one of the folded values.
Ends folded_ends(const Reduction& reduction, Ends each) {
  if (each.finite() || std::isinf(reduction.identity)) return each;
  return reduction.combine->role == Role::add ? sum(each, each) : any_ends;
}

Ends Finite::of(ExprId e) const {
  return match(
      diagram_.at(e).node, [](const Constant& c) { return ends_of(c.value); }, [](const Position&) { return Ends{}; },
      [](const Size&) { return Ends{}; }, [&](const Access& a) { return array_(a.array); },
      [&](const Apply& a) { return of(a); }, [&](const Cast& c) { return of(c.value); },
      [&](const Reduce& r) { return folded_ends(*r.reduction, of(r.body)); });
}

Ends Finite::of(const Apply& a) const {
  const auto argument = [&](std::size_t i) { return of(a.arguments[i]); };
  switch (a.function->role) {
    case Role::add:
      return sum(argument(0), argument(1));
    case Role::subtract:
      return sum(argument(0), negated(argument(1)));
    case Role::negate:
      return negated(argument(0));
    case Role::multiply:
      return finite_if(finite(a.arguments[0]) && finite(a.arguments[1]));
    case Role::divide:
      return finite_if(finite(a.arguments[0]) && finite(a.arguments[1]) && nonzero(a.arguments[1]));
    case Role::power:
      return power(a);
    case Role::root:
      return finite_if(finite(a.arguments[0]) && at_least(a.arguments[0], 0, false));
    case Role::inverse_root:
      return finite_if(finite(a.arguments[0]) && at_least(a.arguments[0], 0, true));
    case Role::logarithm:
      return logarithm(a);
    case Role::exponential:
      return {false, argument(0).above, argument(0).none};
    case Role::exponential_of_difference:
      return exponential_of_difference(argument(0), argument(1));
    case Role::magnitude:
      return {false, argument(0).below || argument(0).above, argument(0).none};
    case Role::choose:
      return joined(argument(1), argument(2));
    case Role::compare:
    case Role::logic:
      return {};
    case Role::greatest:
    case Role::least:
    case Role::other:
      break;
  }
  return of_function(a);
}

// A monotonic function has its ends at the ends of its argument.
Ends Finite::of_function(const Apply& a) const {
  Ends inside;
  for (const auto argument : a.arguments) inside = joined(inside, of(argument));
  if (a.arguments.size() > 1) return order_of(*a.function).homogeneous ? inside : finite_if(inside.finite());
  Ends all{false, false, inside.none};
  const double low = -infinity;
  if (inside.below) all = joined(all, ends_of(a.function->value(&low)));
  if (inside.above) all = joined(all, ends_of(a.function->value(&infinity)));
  return all;
}

Ends Finite::power(const Apply& a) const {
  const auto* power = std::get_if<Constant>(&diagram_.at(a.arguments[1]).node);
  if (!power || !finite(a.arguments[0])) return any_ends;
  const bool defined = integer(power->value) || at_least(a.arguments[0], 0, false);
  return finite_if(defined && (power->value >= 0 || nonzero(a.arguments[0])));
}

Ends Finite::logarithm(const Apply& a) const {
  if (!finite(a.arguments[0]) || !at_least(a.arguments[0], 0, false)) return any_ends;
  return {!at_least(a.arguments[0], 0, true), false, false};
}

bool Finite::at_least(ExprId e, double least, bool more) const {
  const double found = bounds_.of(e).least;
  return found > least || (!more && found == least);
}

bool Finite::nonzero(ExprId e) const {
  const auto range = bounds_.of(e);
  if (range.least > 0 || range.greatest < 0) return true;
  const auto* apply = std::get_if<Apply>(&diagram_.at(e).node);
  if (!apply) return false;
  if (apply->function->role == Role::choose) return avoids_zero(*apply);
  const bool multiplies = apply->function->role == Role::multiply;
  return multiplies && std::ranges::all_of(apply->arguments, [&](ExprId part) { return nonzero(part); });
}

// Recognizes where(a > 0, a, b) with b nonzero.
bool Finite::avoids_zero(const Apply& choice) const {
  const auto* asked = std::get_if<Apply>(&diagram_.at(choice.arguments[0]).node);
  if (!asked || asked->function->role != Role::compare || asked->arguments[0] != choice.arguments[1]) return false;
  const auto* zero = std::get_if<Constant>(&diagram_.at(asked->arguments[1]).node);
  const double equal[] = {0, 0};
  return zero && zero->value == 0 && asked->function->value(equal) == 0 && nonzero(choice.arguments[2]);
}

bool is_finite(const Diagram& diagram, ExprId e, const std::function<std::optional<Produced>(ArrayId)>& produced) {
  return ProducedEnds(diagram, produced).of(e).finite();
}

bool is_finite(const Diagram& diagram, ExprId e) {
  return is_finite(diagram, e, [&](ArrayId array) -> std::optional<Produced> {
    const auto made = std::ranges::find(diagram.statements, array, &Statement::output);
    return made == diagram.statements.end() ? std::nullopt : std::optional(Produced{made->value});
  });
}

}  // namespace napkin
