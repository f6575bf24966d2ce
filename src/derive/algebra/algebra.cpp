// Rewrites expressions into normal forms; see algebra.hpp.
#include "derive/algebra/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "derive/states/moments.hpp"
#include "diagram/match.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

constexpr std::size_t most_terms = 64;  // larger sums are left as they are

bool is_zero(const Diagram& diagram, ExprId e) {
  const auto* c = std::get_if<Constant>(&diagram.at(e).node);
  return c && c->value == 0;
}
bool is_minus_infinity(const Diagram& diagram, ExprId e) {
  const auto* c = std::get_if<Constant>(&diagram.at(e).node);
  return c && c->value == -infinity;
}

// where(condition, .., outside)
bool chooses(const Diagram& diagram, ExprId e, ExprId condition, ExprId outside) {
  const auto* apply = std::get_if<Apply>(&diagram.at(e).node);
  return apply && apply->function->role == Role::choose && apply->arguments[0] == condition &&
         apply->arguments[2] == outside;
}

}  // namespace

Dependence Algebra::dependence(ExprId e) const {
  return match(
      diagram_.at(e).node, [](const Constant&) { return Dependence{}; }, [](const Size&) { return Dependence{}; },
      [&](const Position& p) {
        return Dependence{p.wire == meaning_.wire, false};
      },
      [&](const Access& a) { return meaning_.dependence(a); },
      [&](const Apply& a) {
        if (a.function->role == Role::compare && meaning_.ranks && meaning_.ranks(e)) return Dependence{true, false};
        Dependence all;
        for (const auto argument : a.arguments) all = all | dependence(argument);
        return all;
      },
      [&](const Cast& c) { return dependence(c.value); }, [&](const Reduce& r) { return dependence(r.body); });
}

Dependence Algebra::dependence(const Term& term) const {
  Dependence all = dependence(term.exponent);
  for (const auto& [base, power] : term.factors) all = all | dependence(base);
  for (const auto& [base, power] : term.rounded) all = all | dependence(base);
  return all;
}

Dependence Algebra::dependence(const Sum& sum) const {
  Dependence all;
  for (const auto& term : sum) all = all | dependence(term);
  return all;
}

bool Algebra::positive(ExprId e) const {
  return match(
      diagram_.at(e).node, [](const Constant& c) { return c.value >= 0; }, [](const Size&) { return true; },
      [](const Position&) { return true; }, [&](const Access& a) { return meaning_.positive(a.array); },
      [&](const Apply& a) {
        const auto all = [&] { return std::ranges::all_of(a.arguments, [&](ExprId x) { return positive(x); }); };
        const auto role = a.function->role;
        if (role == Role::choose) return positive(a.arguments[1]) && positive(a.arguments[2]);
        return a.function->positive || ((role == Role::add || role == Role::multiply || role == Role::divide) && all());
      },
      [&](const Cast& c) { return positive(c.value); }, [](const Reduce&) { return false; });
}

bool Algebra::positive(const Term& term) const {
  const auto fine = [&](const auto& f) {
    return (integer(f.second) && std::fmod(f.second, 2) == 0) || positive(f.first);
  };
  return term.coefficient > 0 && std::ranges::all_of(term.factors, fine) && std::ranges::all_of(term.rounded, fine);
}

// Whether this is the exponential of a difference, a function that only the derivation writes.
static bool is_difference(const Apply& apply) { return apply.function->role == Role::exponential_of_difference; }

bool Algebra::holds_exponential(ExprId e) const {
  return match(
      diagram_.at(e).node, [](const Constant&) { return false; }, [](const Size&) { return false; },
      [](const Position&) { return false; }, [](const Access&) { return false; },
      [&](const Apply& a) {
        return a.function->role == Role::exponential || is_difference(a) ||
               std::ranges::any_of(a.arguments, [&](ExprId x) { return holds_exponential(x); });
      },
      [&](const Cast& c) { return holds_exponential(c.value); }, [](const Reduce&) { return false; });
}

Sum Algebra::atom(ExprId e, std::vector<Moved> moved) {
  Sum all = as_factor(e);
  all[0].moved = std::move(moved);
  return all;
}

// Whether a sum adds pieces and finished reductions, with no term that mixes them except by a factor common to all
// pieces.
bool Algebra::is_shift(const Sum& given) {
  if (!keeps_shifts_ || given.size() < 2 || given.size() > most_terms || !dependence(given).mixed()) return false;
  const Sum sum = with_exponentials_as_factors(given);
  const auto alone = [](const Term& t) { return !t.cast && t.exponent.empty() && t.guards.empty(); };
  if (!std::ranges::all_of(sum, alone)) return false;
  if (std::ranges::none_of(sum, [&](const Term& t) { return dependence(t).mixed(); })) return true;
  return common_factor(sum) && std::ranges::any_of(sum, [&](const Term& t) { return !dependence(t).piece; });
}

Sum Algebra::with_exponentials_as_factors(Sum sum) {
  for (auto& term : sum) {
    if (term.cast || term.exponent.empty() || dependence(term.exponent).mixed()) continue;
    const ExprId power = build(std::exchange(term.exponent, {}));
    term.factors = combined(term.factors, {{apply("exp", {power}), 1}});
  }
  return sum;
}
bool Algebra::is_shift(ExprId e) {
  const auto* apply = std::get_if<Apply>(&diagram_.at(e).node);
  const auto role = apply ? apply->function->role : Role::other;
  return (role == Role::add || role == Role::subtract) && keeps_shifts_ && is_shift(normal(e));
}

// The factors of a product that do not vary with the piece; none if one factor mixes piece and state.
std::optional<Factors> Algebra::waiting_factors(const Term& term) const {
  Factors waiting;
  for (const auto& factor : term.factors) {
    const auto depends = dependence(factor.first);
    if (depends.mixed()) return {};
    if (!depends.piece) waiting.push_back(factor);
  }
  return waiting;
}

std::optional<Factors> Algebra::common_factor(const Sum& sum) const {
  std::optional<Factors> common;
  for (const auto& term : sum) {
    if (term.cast || term.unrounded || !term.exponent.empty() || !term.moved.empty()) return {};
    if (!dependence(term).piece) continue;
    const auto waiting = waiting_factors(term);
    if (!waiting || (common && *common != *waiting)) return {};
    common = waiting;
  }
  return common;
}

// Writes u * v + w * v as v * (u + w).
std::optional<Term> Algebra::factored(const Sum& sum) {
  const bool mixes = sum.size() > 1 && !keeps_sums_ && dependence(sum).mixed();
  if (!mixes || std::ranges::any_of(sum, [&](const Term& t) { return !dependence(t).piece; })) return {};
  const auto common = common_factor(sum);
  if (!common) return {};
  Sum pieces = sum;
  for (auto& term : pieces) term.factors = combined(term.factors, powers(*common, -1));
  Term all;
  all.factors = combined(*common, atom(pieces)[0].factors);
  return all;
}

// Makes a sum of several terms one factor, unless it mixes piece and state and so must be multiplied out.
Sum Algebra::wrapped(const Sum& sum) {
  if (is_shift(sum)) return atom(sum);
  if (const auto product = factored(sum)) return {*product};
  if (sum.size() < 2 || (!keeps_sums_ && dependence(sum).mixed() && sum.size() <= most_terms)) return sum;
  return atom(sum);
}

Sum Algebra::normal(ExprId e) {
  const ExprNode node = diagram_.at(e).node;
  return match(
      node,
      [&](const Constant& c) {
        if (c.value == 0) return Sum{};
        if (!std::isfinite(c.value)) return atom(e);
        Term term;
        term.coefficient = c.value;
        return Sum{term};
      },
      [&](const Position&) { return atom(e); }, [&](const Size&) { return atom(e); },
      [&](const Access&) {
        auto definition = meaning_.definition(e);
        return definition && definition->size() <= most_terms ? *definition : atom(e);
      },
      [&](const Apply& a) { return normal_apply(e, a); },
      [&](const Cast& c) { return cast(e, c.type, normal(c.value)); }, [&](const Reduce&) { return atom(e); });
}

Sum Algebra::normal_apply(ExprId e, const Apply& a) {
  const auto argument = [&](std::size_t i) { return normal(a.arguments[i]); };
  switch (a.function->role) {
    case Role::add:
      return add(argument(0), argument(1));
    case Role::subtract:
      return add(argument(0), scale(argument(1), -1));
    case Role::negate:
      return scale(argument(0), -1);
    case Role::multiply:
      return multiplied(argument(0), argument(1));
    case Role::divide:
      return multiplied(argument(0), inverted(argument(1)));
    case Role::power: {
      const auto* power = std::get_if<Constant>(&diagram_.at(a.arguments[1]).node);
      return power ? raised(argument(0), power->value) : opaque(e, a);
    }
    case Role::root:
      return rooted(a, argument(0), 0.5);
    case Role::inverse_root:
      return rooted(a, argument(0), -0.5);
    case Role::exponential:
      return exponential(argument(0), a.function->scale);
    case Role::logarithm:
      return logarithm(a, argument(0));
    case Role::magnitude:
      return magnitude(e, a, argument(0));
    case Role::choose:
      return chosen(e, a);
    case Role::compare:
    case Role::logic:
    case Role::exponential_of_difference:
    case Role::greatest:
    case Role::least:
    case Role::other:
      break;
  }
  if (order_of(*a.function).homogeneous) return homogeneous(e, a);
  // It guards against minus infinity, so it is only taken apart if it must be.
  if (is_difference(a) && dependence(e).mixed()) return exponential(add(argument(0), scale(argument(1), -1)), 1);
  return opaque(e, a);
}

// Whether the terms of a sum may cancel. Multiplied out, a product of two such sums has larger terms that cancel: its
// rounding error grows with the square of the cancellation, that of the product of the differences only linearly.
bool Algebra::may_cancel(const Sum& sum) const {
  return !keeps_sums_ && sum.size() > 1 && dependence(sum).mixed() &&
         !std::ranges::all_of(sum, [&](const Term& term) { return positive(term); });
}

Sum Algebra::multiplied(const Sum& a, const Sum& b) {
  Sum left = wrapped(a), right = wrapped(b);
  if (may_cancel(left) && may_cancel(right)) left = atom(left), right = atom(right);
  Sum all;
  for (const auto& x : left)
    for (const auto& y : right) all = add(all, {multiplied(x, y)});
  return all;
}

// A term holds one cast. In a product of two casts each is rounded by itself, unless its argument must be taken apart.
Term Algebra::multiplied(const Term& a, const Term& b) {
  if (!a.cast || !b.cast) return napkin::multiplied(a, b);
  const Term left = with_cast_as_factor(a);
  return napkin::multiplied(left, left.cast ? with_cast_as_factor(b) : b);
}
Term Algebra::with_cast_as_factor(const Term& term) {
  Term inside, rest = term;
  inside.factors = term.rounded;
  inside.exponent = term.exponent;
  if (dependence(inside).state) return term;
  rest.cast.reset();
  rest.rounded.clear();
  rest.exponent.clear();
  rest.factors = combined(rest.factors, {{cast_to(*term.cast, build(inside)), 1}});
  return rest;
}

Sum Algebra::inverted(const Sum& sum) { return raised(sum, -1); }

// exp(scale * sum): logarithms in the exponent become factors, and constants go into the coefficient.
Sum Algebra::exponential(const Sum& sum, double scale) {
  Term term;
  term.moved = moved_in(sum);
  Guards guards;
  for (auto& part : napkin::scale(sum, scale)) {
    guards = together(guards, std::exchange(part.guards, {}));
    const bool bare = part.exponent.empty() && !part.cast;
    if (bare && part.factors.empty()) {
      term.coefficient *= std::exp(part.coefficient);
      continue;
    }
    const auto* log = bare && part.factors.size() == 1 && part.factors[0].second == 1
                          ? std::get_if<Apply>(&diagram_.at(part.factors[0].first).node)
                          : nullptr;
    if (log && log->function->role == Role::logarithm)
      term.factors = combined(term.factors, {{log->arguments[0], part.coefficient / log->function->scale}});
    else
      term.exponent = add(term.exponent, {part});
  }
  const auto conditions = conditions_of(diagram_, term);
  const auto leaves_zero = [&](ExprId guard) { return std::ranges::count(conditions, guard) > 0; };
  std::ranges::copy_if(guards, std::back_inserter(term.guards), leaves_zero);
  return {term};
}

// where(c, a, b): factors that do not depend on the piece move out of the choice.
Sum Algebra::chosen(ExprId e, const Apply& a) {
  const ExprId condition = a.arguments[0];
  if (const ExprId known = build(normal(condition)); dependence(condition).state && known != condition) {
    const Apply made{a.function, {known, a.arguments[1], a.arguments[2]}};
    return chosen(diagram_.intern(made), made);
  }
  const Sum yes = normal(a.arguments[1]);
  const bool otherwise_zero = is_zero(diagram_, a.arguments[2]);
  const bool mixed = dependence(yes).mixed() || dependence(normal(a.arguments[2])).mixed() ||
                     (dependence(a.arguments[1]) | dependence(a.arguments[2]) | dependence(condition)).mixed();
  if (dependence(condition).state) return opaque(e, a);
  const bool apart = yes.size() == 1 || !keeps_sums_;
  if (otherwise_zero && apart && (mixed || holds_exponential(a.arguments[1]))) return kept_where(condition, yes, true);
  if (!mixed) return dependence(e).state ? opaque(e, a) : atom(e);
  if (keeps_sums_) return opaque(e, a);
  if (is_minus_infinity(diagram_, a.arguments[2])) {
    Sum inside, outside;
    for (const auto& term : yes) (dependence(term).state ? outside : inside).push_back(term);
    if (dependence(outside).piece) return opaque(e, a);
    for (auto& term : outside) term.guards = together(term.guards, {condition});
    return add(atom(apply("where", {condition, build(inside), a.arguments[2]}), moved_in(inside)), outside);
  }
  const Sum where_true = kept_where(condition, yes, true);
  return add(where_true, kept_where(condition, normal(a.arguments[2]), false));
}

// The sum where `condition` holds (or, with `when` false, fails), 0 elsewhere, factor by factor.
Sum Algebra::kept_where(ExprId condition, const Sum& sum, bool when) {
  const ExprId zero = diagram_.intern(Constant{0});
  const ExprId never = diagram_.intern(Constant{-infinity});
  const auto choice = [&](ExprId inside, ExprId outside) {
    if (when && chooses(diagram_, inside, condition, outside)) return inside;
    return when ? apply("where", {condition, inside, outside}) : apply("where", {condition, outside, inside});
  };
  const auto asked = [&] { return when ? condition : apply("not", {condition}); };
  Sum all;
  for (const auto& term : is_shift(sum) ? atom(build(sum)) : sum) {
    auto separated = separate(term);
    const auto* parts = std::get_if<Separated>(&separated);
    const bool rounds = parts && std::ranges::any_of(parts->shifts, &Shift::rounded);
    if (!parts || rounds) return atom(choice(build(sum), zero), moved_in(sum));
    const auto kept = [&](const Factors& factors) {
      Term product;
      product.factors = factors;
      return factors.empty() ? factors : atom(choice(build(product), zero))[0].factors;
    };
    Term piece = parts->piece;
    if (!piece.exponent.empty()) {
      const Sum masked = atom(choice(build(piece.exponent), never));
      for (auto& moved : piece.moved)
        if (equal(moved.rounded[0].exponent, piece.exponent)) moved.rounded[0].exponent = masked;
      piece.exponent = masked;
    } else {
      const bool bare = piece.factors.empty() && piece.rounded.empty();
      piece.factors = bare ? atom(choice(build(piece), zero))[0].factors : kept(piece.factors);
      piece.rounded = kept(piece.rounded);
    }
    for (const auto& shift : parts->shifts) piece.factors = combined(piece.factors, {{shift.base, shift.power}});
    Term kept_term = napkin::multiplied(piece, parts->state);
    const bool waits = !parts->shifts.empty() || !parts->state.factors.empty() || !parts->state.exponent.empty();
    kept_term.guards = waits ? together(parts->guards, {asked()}) : parts->guards;
    all = add(all, {kept_term});
  }
  return all;
}

// Leaves a function without known rules as one factor. Finished reductions inside it are written out in the state.
Sum Algebra::opaque(ExprId e, const Apply& a) {
  std::vector<ExprId> arguments;
  std::vector<Moved> moved;
  bool state = false;
  for (const auto argument : a.arguments) {
    const Sum sum = normal(argument);
    std::ranges::copy(moved_in(sum), std::back_inserter(moved));
    state = state || dependence(sum).state || dependence(argument).state;
    arguments.push_back(dependence(sum).state || dependence(argument).state ? build(sum) : argument);
  }
  return state ? atom(diagram_.intern(Apply{a.function, arguments}), moved) : atom(e);
}

}  // namespace napkin
