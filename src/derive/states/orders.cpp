// The greatest or smallest value of an expression that mixes pieces and finished reductions: functions that keep or
// reverse the order of numbers are applied in finish, and the extremes of their arguments are carried.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "derive/states/analysis.hpp"
#include "diagram/order.hpp"

namespace napkin {

// Whether the expression has one value for all positions that the column folds.
bool StateAnalysis::settled(const Column& column, ExprId e) const {
  return !algebra_.dependence(e).piece && within(column.over, wires_below(e)).empty();
}

std::set<WireId> StateAnalysis::wires_below(ExprId e) const {
  const auto all = free_wires(scratch_, e);
  return {all.begin(), all.end()};
}

// The wires along which finished reductions in an expression vary. They cannot be folded before those are finished.
std::set<WireId> StateAnalysis::waiting_below(ExprId e) const {
  const auto depends = algebra_.dependence(e);
  if (depends.state && !depends.piece) return wires_below(e);
  std::set<WireId> all;
  const auto& node = scratch_.at(e).node;
  if (const auto* cast = std::get_if<Cast>(&node)) all = waiting_below(cast->value);
  if (const auto* apply = std::get_if<Apply>(&node))
    for (const auto argument : apply->arguments) all.merge(waiting_below(argument));
  return all;
}

std::optional<Sum> StateAnalysis::extreme(const Column& column, const Sum& body) {
  const auto mixes = [&](const Term& term) { return algebra_.dependence(term).mixed(); };
  const bool mixed = std::ranges::any_of(body, mixes);
  Sum inside, outside;
  for (const auto& term : body) {
    const bool waits = settled(column, algebra_.build(unguarded(term))) && (mixed || algebra_.dependence(term).state);
    if (waits)
      outside = add(outside, guarded(column, {unguarded(term)}, {unguarded(term)}, term.guards, column.over));
    else
      inside.push_back(term);
  }
  if (inside.empty()) return outside;
  if (inside.size() > 1 && mixed)
    return refuse_mixing(algebra_.build(*std::ranges::find_if(inside, mixes))), std::nullopt;
  if (!outside.empty()) {
    found_.rules.insert({Rule::cascade, Rule::invariant});
    step(Rule::cascade, column, unguarded(body), add(reduction(column, unguarded(inside)), outside),
         "a term that does not vary with the piece shifts all terms equally");
    for (const auto& term : inside) note_casts(term);
  }
  const bool single = inside.size() == 1 && (mixed || !inside[0].exponent.empty());
  auto value = single ? extreme_of_term(column, inside[0]) : extreme_of_piece(column, inside);
  if (value && single) value = guarded(column, *value, *value, counted_among(inside[0].guards), column.over);
  if (value) value = add(*value, outside);
  return value;
}

// The guards, limited to the positions that an enclosing choice takes.
Guards StateAnalysis::counted_among(const Guards& guards) const {
  return guards.empty() || !counted_ ? guards : together(guards, {*counted_});
}

// The fold of the piece itself. Within a choice it covers only the positions that the choice takes.
Sum StateAnalysis::extreme_of_piece(const Column& column, const Sum& piece) {
  if (!counted_) return carried(column, piece, column.over, {}, false);
  const ExprId identity = scratch_.intern(Constant{column.fold->identity});
  return carried(column, as_factor(algebra_.apply("where", {*counted_, algebra_.build(piece), identity})), column.over,
                 {}, false);
}

// The greatest whole power k >= 2 such that all factors of both terms are k-th powers; 1 if there is none.
double StateAnalysis::raised_together(const Term& u, const Term& v) {
  const bool products = u.exponent.empty() && v.exponent.empty() && !u.cast && !u.factors.empty() && !v.factors.empty();
  long together = 0;
  for (const auto& [factor, power] : combined(u.factors, v.factors)) {
    if (!products || !integer(power)) return 1;
    together = std::gcd(together, std::lround(power));
  }
  return together < 2 ? 1 : static_cast<double>(together);
}

// Writes u^k * v^k as (u * v)^k. The quotient of two large numbers is raised, because their powers may be out of range.
std::optional<Sum> StateAnalysis::extreme_of_raised(const Column& column, const Term& u, const Term& v, double power) {
  Term raised, base, coefficient;
  raised.factors = combined(u.factors, v.factors);
  for (const auto& [factor, times] : raised.factors) base.factors.emplace_back(factor, times / power);
  coefficient.coefficient = u.coefficient * v.coefficient;
  return by_sign(column, raised, coefficient, [&](const Column& of) {
    return extreme_of_power(of, {algebra_.build(base), power});
  });
}

// The extreme of u * v, or of f * v if a single factor f mixes piece and state.
std::optional<Sum> StateAnalysis::extreme_of_term(const Column& column, const Term& term) {
  Term inside, outside;
  outside.coefficient = term.coefficient;
  const auto sort = [&](const Factors& factors, Factors& in, Factors& out) {
    for (const auto& factor : factors) {
      auto& side = settled(column, factor.first) ? out : in;
      side = combined(side, {factor});
    }
  };
  sort(term.factors, inside.factors, outside.factors);
  inside.cast = term.cast, inside.rounded = term.rounded, inside.unrounded = term.unrounded;
  const bool piecewise = algebra_.dependence(term.exponent).piece;
  const auto waits = [&](const Term& part) {
    return settled(column, algebra_.build(part)) && (!piecewise || algebra_.dependence(part).state);
  };
  for (const auto& part : term.exponent) (waits(part) ? outside : inside).exponent.push_back(part);
  if (!algebra_.dependence(inside).mixed()) {
    if (const double power = raised_together(inside, outside); power != 1)
      return extreme_of_raised(column, inside, outside, power);
    if (outside.coefficient < 0) inside.coefficient = -1, outside.coefficient *= -1;
    note_rules({inside}, outside);
    return by_sign(column, inside, outside,
                   [&](const Column& of) { return extreme_of_product(of, inside, outside.exponent); });
  }
  const bool one = inside.factors.size() + (inside.exponent.empty() ? 0 : 1) == 1 && !inside.cast;
  if (!one) return refuse_mixing(algebra_.build(inside)), std::nullopt;
  return by_sign(column, inside, outside, [&](const Column& of) -> std::optional<Sum> {
    if (!inside.factors.empty()) return extreme_of_power(of, inside.factors[0]);
    auto value = extreme(of, inside.exponent);
    if (!value) return {};
    Term exponential;
    exponential.exponent = *value;
    return Sum{exponential};
  });
}

// v * (the extreme of u), or v * (the opposite extreme) if v is negative.
std::optional<Sum> StateAnalysis::by_sign(const Column& column, const Term& u, const Term& v, const Extreme& of) {
  const Column turned = opposite_of(column);
  Term sign = v;
  sign.exponent.clear();
  if (trivial(v)) return of(column);
  found_.rules.insert({Rule::cascade, Rule::invariant});
  if (algebra_.positive(sign)) {
    step(Rule::cascade, column, {napkin::multiplied(u, v)}, times(reduction(column, {u}), v),
         "a factor that is never negative keeps the order");
    return product_with(of(column), v);
  }
  Term negative = sign;
  negative.coefficient *= -1;
  if (algebra_.positive(negative)) {
    step(Rule::cascade, column, {napkin::multiplied(u, v)}, times(reduction(turned, {u}), v),
         "a factor that is never positive reverses the order");
    return product_with(of(turned), v);
  }
  // The exponential that waits for finish is multiplied in within the choice or outside of it.
  const auto choose = [&](const Sum& upright, const Sum& flipped, bool within) {
    const ExprId zero = scratch_.intern(Constant{0});
    const Term& factor = within ? v : sign;
    Term chosen;
    chosen.factors = {{algebra_.apply("where", {algebra_.apply(">=", {algebra_.build(sign), zero}),
                                                algebra_.build(*product_with(upright, factor)),
                                                algebra_.build(*product_with(flipped, factor))}),
                       1}};
    if (!within) chosen.exponent = v.exponent;
    return chosen;
  };
  step(Rule::cascade, column, {napkin::multiplied(u, v)},
       {choose(reduction(column, {u}), reduction(turned, {u}), false)},
       "the sign of a factor is known only at the end: until then both extremes are carried");
  auto upright = of(column), flipped = upright ? of(turned) : std::nullopt;
  if (!flipped) return {};
  // Exponentials cancel only where they meet: outside if both extremes have the same exponential, else within the
  // choice.
  const bool alike =
      upright->size() == 1 && flipped->size() == 1 && equal((*upright)[0].exponent, (*flipped)[0].exponent);
  Sum common;
  if (alike) {
    common = std::exchange((*upright)[0].exponent, {});
    (*flipped)[0].exponent.clear();
  }
  Term chosen = choose(*upright, *flipped, !alike);
  chosen.exponent = add(chosen.exponent, common);
  return Sum{chosen};
}

// A sum stays one factor: multiplied out, its terms could cancel less exactly.
std::optional<Sum> StateAnalysis::product_with(const std::optional<Sum>& value, const Term& v) {
  if (!value) return {};
  return times(value->size() > 1 ? as_factor(algebra_.build(*value)) : *value, v);
}

Column StateAnalysis::opposite_of(const Column& column) {
  Column other = column;
  other.fold = opposite(*column.fold);
  return other;
}

// The extreme of a term that the piece alone determines; `waiting` is the exponent of its later factor.
std::optional<Sum> StateAnalysis::extreme_of_product(const Column& column, const Term& piece, const Sum& waiting) {
  const bool plain = piece.factors.empty() && !piece.cast && piece.coefficient == 1;
  if (!piece.exponent.empty() && plain) {
    // The exponential grows with its exponent: the extreme of one is that of the other.
    Term exponential;
    exponential.exponent = extreme_of_piece(column, piece.exponent);
    return Sum{exponential};
  }
  if (counted_ && !piece.exponent.empty()) return refuse_mixing(algebra_.build(piece)), std::nullopt;
  if (counted_) return extreme_of_piece(column, {piece});
  const auto reference = referenced(column, {piece}, column.over, waiting);
  if (!rounds_alike(column, {piece}, reference)) return {};
  return carried(column, {piece}, column.over, reference, false);
}

std::optional<Sum> StateAnalysis::extreme_of_power(const Column& column, std::pair<ExprId, double> factor) {
  const auto [base, power] = factor;
  if (power == 1) return extreme_of(column, base);
  const bool positive = algebra_.positive(base), whole = integer(power) && power > 0;
  if (!positive && !whole) return refuse_mixing(base), std::nullopt;
  const bool even = std::fmod(power, 2) == 0;
  const auto order = power < 0 ? Order::falling : positive || !even ? Order::rising : Order::valley;
  return ordered(column, base, order, [&, to = power](ExprId value) {
    Term raised;
    raised.factors = {{value, to}};
    return algebra_.build(raised);
  });
}

std::optional<Sum> StateAnalysis::extreme_of(const Column& column, ExprId e) {
  const auto node = scratch_.at(e).node;
  if (const auto* cast = std::get_if<Cast>(&node))
    return ordered(column, cast->value, Order::rising,
                   [&](ExprId value) { return algebra_.cast_to(cast->type, value); });
  const auto* apply = std::get_if<Apply>(&node);
  if (!apply) return refuse_mixing(e), std::nullopt;
  switch (apply->function->role) {
    case Role::add:
    case Role::subtract:
    case Role::negate:
    case Role::multiply:
    case Role::divide:
    case Role::power:
      return extreme(column, algebra_.normal(e));
    case Role::choose:
      return extreme_of_choice(column, *apply);
    default:
      return extreme_of_function(column, e, *apply);
  }
}

std::optional<Sum> StateAnalysis::extreme_of_function(const Column& column, ExprId e, const Apply& apply) {
  const auto row = order_of(*apply.function);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < apply.arguments.size(); ++i)
    if (!settled(column, apply.arguments[i])) open.push_back(i);
  if (row.order == Order::none || open.size() != 1) return refuse_mixing(e), std::nullopt;
  const auto argument = apply.arguments[open[0]];
  const bool positive = algebra_.positive(argument);
  if (row.of_positive && !positive) return refuse_mixing(e), std::nullopt;
  const auto order = row.order == Order::valley && positive ? Order::rising : row.order;
  return ordered(column, argument, order, [&](ExprId value) {
    auto arguments = apply.arguments;
    arguments[open[0]] = value;
    return algebra_.apply(apply.function->name, std::move(arguments));
  });
}

// where(c, a, b): the extreme of a where c holds, and that of b elsewhere.
std::optional<Sum> StateAnalysis::extreme_of_choice(const Column& column, const Apply& choice) {
  const ExprId condition = choice.arguments[0];
  if (algebra_.dependence(condition).state) return refuse_mixing(condition), std::nullopt;
  const auto one = extreme_where(column, condition, choice.arguments[1]);
  const auto other =
      one ? extreme_where(column, algebra_.apply("not", {condition}), choice.arguments[2]) : std::nullopt;
  if (!other) return {};
  const ExprId a = algebra_.build(*one), b = algebra_.build(*other);
  const auto counts = [&](ExprId value) {
    const auto* constant = std::get_if<Constant>(&scratch_.at(value).node);
    return !constant || constant->value != column.fold->identity;
  };
  if (!counts(b)) return one;
  return counts(a) ? as_factor(algebra_.apply(column.fold->combine->name, {a, b})) : *other;
}

// An extreme over no positions may give NaN, as infinity minus infinity does; then its value is not used.
std::optional<Sum> StateAnalysis::extreme_where(const Column& column, ExprId condition, ExprId e) {
  const ExprId identity = scratch_.intern(Constant{column.fold->identity});
  if (e == identity) return as_factor(e);
  const auto outer = counted_;
  counted_ = outer ? algebra_.apply("and", {*outer, condition}) : condition;
  const auto value = algebra_.dependence(e).state ? extreme(column, algebra_.normal(e))
                                                  : std::optional(extreme_of_piece(column, as_factor(e)));
  const bool plain = !algebra_.dependence(e).state;
  auto chosen = value;
  if (value && !plain)
    chosen = as_factor(algebra_.apply("where", {any_holds(column, *counted_), algebra_.build(*value), identity}));
  counted_ = outer;
  return chosen;
}

// The greatest of ones where the condition holds, which tells whether it holds at any position. A piece in which it
// holds nowhere leaves the value unchanged, so that the piece may be skipped.
ExprId StateAnalysis::any_holds(const Column& column, ExprId condition) {
  Column any = column;
  any.fold = find_reduction("max");
  const ExprId one = scratch_.intern(Constant{1}), nothing = scratch_.intern(Constant{any.fold->identity});
  const ExprId zero = scratch_.intern(Constant{0});
  const Sum ones = as_factor(algebra_.apply("where", {condition, one, nothing}));
  const ExprId greatest = algebra_.build(carried(any, ones, any.over, {}, false));
  return algebra_.apply(">", {greatest, zero});
}

// The extreme of f(e), computed from the extremes of e.
std::optional<Sum> StateAnalysis::ordered(const Column& column, ExprId e, Order order, const Function& f) {
  const Column turned = opposite_of(column);
  const Sum inner = algebra_.normal(e);
  const auto folded = [&](const Column& of) { return algebra_.build(reduction(of, inner)); };
  const auto both = [&](ExprId one, ExprId other) {
    return algebra_.apply(column.fold->combine->name, {f(one), f(other)});
  };
  const ExprId before = algebra_.build(reduction(column, as_factor(f(e))));
  found_.rules.insert({Rule::cascade, Rule::finish});
  if (order != Order::valley) {
    const Column& of = order == Order::rising ? column : turned;
    note_step(Rule::cascade, before, f(folded(of)),
              order == Order::rising ? "a growing function is applied once, to the extreme of its argument"
                                     : "a falling function is applied once, to the opposite extreme of its argument");
    const auto value = extreme(of, inner);
    return value ? std::optional(as_factor(f(algebra_.build(*value)))) : std::nullopt;
  }
  if (column.fold->combine->role != Role::greatest) return refuse_mixing(f(e)), std::nullopt;
  note_step(Rule::cascade, before, both(folded(column), folded(turned)),
            "a function that falls and then rises is greatest at one of its two ends");
  const auto top = extreme(column, inner), bottom = top ? extreme(turned, inner) : std::nullopt;
  if (!bottom) return {};
  return as_factor(both(algebra_.build(*top), algebra_.build(*bottom)));
}

}  // namespace napkin
