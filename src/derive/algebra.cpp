// Expressions to normal forms and back; see algebra.hpp.
#include "derive/algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diagram/match.hpp"

namespace napkin {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t most_terms = 64;  // beyond it an expression is left as it stands

bool equal(const Factors& a, const Factors& b) { return a == b; }

Factors powers(Factors factors, double power) {
  for (auto& f : factors) f.second *= power;
  return factors;
}

// Equal but for the coefficient.
bool alike(const Term& a, const Term& b) {
  return equal(a.factors, b.factors) && equal(a.rounded, b.rounded) && a.cast == b.cast &&
         napkin::equal(a.exponent, b.exponent);
}

Term multiplied(const Term& a, const Term& b) {
  Term all;
  all.coefficient = a.coefficient * b.coefficient;
  all.factors = combined(a.factors, b.factors);
  all.exponent = add(a.exponent, b.exponent);
  all.cast = a.cast ? a.cast : b.cast;
  all.rounded = combined(a.rounded, b.rounded);
  all.unrounded = a.unrounded ? a.unrounded : b.unrounded;
  return all;
}

bool integer(double x) { return std::nearbyint(x) == x; }
bool is_zero(const Diagram& diagram, ExprId e) {
  const auto* c = std::get_if<Constant>(&diagram.at(e).node);
  return c && c->value == 0;
}
bool is_minus_infinity(const Diagram& diagram, ExprId e) {
  const auto* c = std::get_if<Constant>(&diagram.at(e).node);
  return c && c->value == -infinity;
}

}  // namespace

Factors combined(const Factors& a, const Factors& b) {
  Factors all = a;
  for (const auto& [base, power] : b) {
    const auto at = std::lower_bound(all.begin(), all.end(), base, [](const auto& f, ExprId e) { return f.first < e; });
    if (at != all.end() && at->first == base)
      at->second += power;
    else
      all.insert(at, {base, power});
  }
  std::erase_if(all, [](const auto& f) { return f.second == 0; });
  return all;
}

bool equal(const Term& a, const Term& b) { return a.coefficient == b.coefficient && alike(a, b); }

bool equal(const Sum& a, const Sum& b) {
  if (a.size() != b.size()) return false;
  std::vector<bool> used(b.size());
  return std::all_of(a.begin(), a.end(), [&](const Term& term) {
    for (std::size_t i = 0; i < b.size(); ++i)
      if (!used[i] && equal(term, b[i])) return used[i] = true, true;
    return false;
  });
}

std::optional<double> positive_ratio(const Sum& a, const Sum& b) {
  if (a.empty() || a.size() != b.size()) return {};
  for (const auto& term : b) {
    if (!alike(a[0], term)) continue;
    const double ratio = term.coefficient / a[0].coefficient;
    if (ratio > 0 && equal(scale(a, ratio), b)) return ratio;
  }
  return {};
}

Sum add(const Sum& a, const Sum& b) {
  Sum all = a;
  for (const auto& term : b) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const Term& t) { return alike(t, term); });
    if (same == all.end())
      all.push_back(term);
    else
      same->coefficient += term.coefficient;
  }
  std::erase_if(all, [](const Term& t) { return t.coefficient == 0; });
  return all;
}

Sum scale(const Sum& sum, double factor) {
  Sum all = sum;
  for (auto& term : all) term.coefficient *= factor;
  return all;
}

Dependence Algebra::dependence(ExprId e) const {
  return match(
      diagram_.at(e).node, [](const Constant&) { return Dependence{}; }, [](const Size&) { return Dependence{}; },
      [&](const Position& p) {
        return Dependence{p.wire == meaning_.wire, false};
      },
      [&](const Access& a) { return meaning_.dependence(a); },
      [&](const Apply& a) {
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

// The exponential of a difference that the derivation itself writes.
static bool is_difference(const Apply& apply) { return apply.function == find_pointwise("expdiff"); }

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

Sum Algebra::atom(ExprId e) {
  Term term;
  term.factors = {{e, 1}};
  return {term};
}

// Pieces plus finished reductions, and nothing that mixes them.
bool Algebra::is_shift(const Sum& sum) const {
  if (!keeps_shifts_ || sum.size() < 2 || sum.size() > most_terms || !dependence(sum).mixed()) return false;
  return std::ranges::none_of(sum,
                              [&](const Term& t) { return dependence(t).mixed() || t.cast || !t.exponent.empty(); });
}
bool Algebra::is_shift(ExprId e) {
  const auto* apply = std::get_if<Apply>(&diagram_.at(e).node);
  const auto role = apply ? apply->function->role : Role::other;
  return (role == Role::add || role == Role::subtract) && keeps_shifts_ && is_shift(normal(e));
}

// A sum of several terms as one factor, unless it mixes piece and state and so must be multiplied out.
Sum Algebra::wrapped(const Sum& sum) {
  if (is_shift(sum)) return atom(build(sum));
  if (sum.size() < 2 || (dependence(sum).mixed() && sum.size() <= most_terms)) return sum;
  return atom(build(sum));
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
    case Role::other:
      break;
  }
  // Taken apart only where it must be: it guards against minus infinity.
  if (is_difference(a) && dependence(e).mixed()) return exponential(add(argument(0), scale(argument(1), -1)), 1);
  return opaque(e, a);
}

Sum Algebra::multiplied(const Sum& a, const Sum& b) {
  const Sum left = wrapped(a), right = wrapped(b);
  Sum all;
  for (const auto& x : left)
    for (const auto& y : right) all = add(all, {multiplied(x, y)});
  return all;
}

// A term has room for one cast. A product of two rounds each by itself, unless what is cast must be taken apart.
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

Sum Algebra::raised(const Sum& sum, double power) {
  if (sum.size() == 1 && (integer(power) || positive(sum[0])) && !sum[0].cast) {
    Term term = sum[0];
    term.coefficient = std::pow(term.coefficient, power);
    term.factors = powers(term.factors, power);
    term.exponent = scale(term.exponent, power);
    return {term};
  }
  if (dependence(sum).mixed() && integer(power) && power > 0 && power <= 4 && !is_shift(sum)) {
    Sum all = sum;
    for (int i = 1; i < power; ++i) all = multiplied(all, sum);
    return all;
  }
  Term term;
  term.factors = {{build(sum), power}};
  return {term};
}

Sum Algebra::rooted(const Apply& root, const Sum& sum, double power) {
  if (sum.size() == 1 && positive(sum[0])) return raised(sum, power);
  if (sum.size() != 1 || sum[0].exponent.empty() || sum[0].cast) return atom(apply(root.function->name, {build(sum)}));
  Term rest = sum[0];
  const Sum exponent = scale(rest.exponent, power);
  rest.exponent.clear();
  Term term;
  term.factors = {{apply(root.function->name, {build(rest)}), 1}};
  term.exponent = exponent;
  return {term};
}

// exp(scale * sum): logarithms in the exponent become factors, constants go to the coefficient.
Sum Algebra::exponential(const Sum& sum, double scale) {
  Term term;
  for (const auto& part : napkin::scale(sum, scale)) {
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
  return {term};
}

// log(a * exp(b)) = log(a) + b: a must be positive where the logarithm is defined, since exp(b) is.
Sum Algebra::logarithm(const Apply& log, const Sum& sum) {
  if (sum.size() != 1 || sum[0].exponent.empty() || sum[0].cast) return atom(apply(log.function->name, {build(sum)}));
  Term rest = sum[0];
  const Sum exponent = scale(rest.exponent, 1 / log.function->scale);
  rest.exponent.clear();
  if (rest.factors.empty() && rest.coefficient == 1) return exponent;
  return add(exponent, atom(apply(log.function->name, {build(rest)})));
}

// |a * b| = |a| * |b|, where that takes pieces and finished reductions apart.
Sum Algebra::magnitude(ExprId e, const Apply& a, const Sum& sum) {
  if (sum.size() != 1 || sum[0].cast || !dependence(sum).mixed()) return opaque(e, a);
  Term term;
  term.coefficient = std::abs(sum[0].coefficient);
  term.exponent = sum[0].exponent;
  for (const auto& [base, power] : sum[0].factors)
    term.factors = combined(term.factors, {{positive(base) ? base : apply(a.function->name, {base}), power}});
  return {term};
}

// where(c, a, b): what does not depend on the piece leaves the choice.
Sum Algebra::chosen(ExprId e, const Apply& a) {
  const ExprId condition = a.arguments[0];
  const Sum yes = normal(a.arguments[1]);
  const bool otherwise_zero = is_zero(diagram_, a.arguments[2]);
  const bool mixed = dependence(yes).mixed() || dependence(normal(a.arguments[2])).mixed() ||
                     (dependence(a.arguments[1]) | dependence(a.arguments[2]) | dependence(condition)).mixed();
  if (dependence(condition).state) return opaque(e, a);
  if (otherwise_zero && (mixed || holds_exponential(a.arguments[1]))) return kept_where(condition, yes, true);
  if (!mixed) return dependence(e).state ? opaque(e, a) : atom(e);
  if (is_minus_infinity(diagram_, a.arguments[2])) {
    Sum inside, outside;
    for (const auto& term : yes) (dependence(term).state ? outside : inside).push_back(term);
    if (dependence(outside).piece) return opaque(e, a);
    return add(atom(apply("where", {condition, build(inside), a.arguments[2]})), outside);
  }
  return add(kept_where(condition, yes, true), kept_where(condition, normal(a.arguments[2]), false));
}

// The sum where `condition` holds (or, with `when` false, fails), 0 elsewhere, factor by factor.
Sum Algebra::kept_where(ExprId condition, const Sum& sum, bool when) {
  const ExprId zero = diagram_.intern(Constant{0});
  const ExprId never = diagram_.intern(Constant{-infinity});
  const auto choice = [&](ExprId inside, ExprId outside) {
    return when ? apply("where", {condition, inside, outside}) : apply("where", {condition, outside, inside});
  };
  Sum all;
  for (const auto& term : sum) {
    auto separated = separate(term);
    if (std::holds_alternative<ExprId>(separated)) return atom(choice(build(sum), zero));
    auto& [piece, state, shift] = std::get<Separated>(separated);
    if (shift) return atom(choice(build(sum), zero));
    if (!piece.exponent.empty())
      piece.exponent = atom(choice(build(piece.exponent), never));
    else
      piece = atom(choice(build(piece), zero))[0];
    all = add(all, {napkin::multiplied(piece, state)});
  }
  return all;
}

// A cast rounds what the piece determines; what finished reductions determine is multiplied in afterwards. The terms of
// a sum are left as they are: rounded one by one they could lose more than the sum has.
Sum Algebra::cast(ExprId e, Datatype type, const Sum& sum) {
  const auto depends = dependence(sum);
  const bool exponential = std::ranges::any_of(sum, [](const Term& t) { return !t.exponent.empty(); });
  if (!depends.piece && depends.state) return atom(cast_to(type, build(sum)));
  if (!depends.mixed() && !exponential) return atom(e);
  if (is_shift(sum)) {
    Term term;
    term.cast = type;
    term.rounded = {{build(sum), 1}};
    return {term};
  }
  Sum all;
  for (const auto& term : sum) {
    auto separated = separate(term);
    if (std::holds_alternative<ExprId>(separated)) return atom(cast_to(type, build(sum)));
    auto& [piece, state, shift] = std::get<Separated>(separated);
    if (shift) piece.factors = combined(piece.factors, {{shift->base, shift->power}});
    if (sum.size() > 1) {
      piece.unrounded = type;
    } else if (!piece.factors.empty() || !piece.exponent.empty() || piece.cast) {
      piece.rounded = combined(piece.rounded, piece.factors);
      piece.factors.clear();
      piece.cast = type;
    }
    all = add(all, {napkin::multiplied(piece, state)});
  }
  return all;
}

// A function the algebra knows nothing of. Where finished reductions are inside they are written out in the state.
Sum Algebra::opaque(ExprId e, const Apply& a) {
  std::vector<ExprId> arguments;
  bool state = false;
  for (const auto argument : a.arguments) {
    const Sum sum = normal(argument);
    state = state || dependence(sum).state || dependence(argument).state;
    arguments.push_back(dependence(sum).state || dependence(argument).state ? build(sum) : argument);
  }
  return atom(state ? diagram_.intern(Apply{a.function, arguments}) : e);
}

std::variant<Algebra::Separated, ExprId> Algebra::separate(const Term& term) {
  Separated parts;
  parts.state.coefficient = term.coefficient;
  const auto sort = [&](const Factors& factors, Factors& piece, Factors& state) -> std::optional<ExprId> {
    for (const auto& factor : factors) {
      const auto depends = dependence(factor.first);
      if (depends.mixed()) {
        const bool fits = integer(factor.second) && factor.second > 0 && factor.second <= 4;
        if (parts.shift || !fits || !is_shift(factor.first)) return factor.first;
        parts.shift = Shift{factor.first, factor.second, &factors == &term.rounded};
        continue;
      }
      auto& side = depends.piece ? piece : state;
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
  const bool rounds = parts.shift && parts.shift->rounded;
  if (!parts.piece.rounded.empty() || !parts.piece.exponent.empty() || rounds) parts.piece.cast = term.cast;
  parts.piece.unrounded = term.unrounded;
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

Algebra::Product Algebra::parts(const Term& term) {
  Product all;
  const double size = std::abs(term.coefficient);
  if (size != 1) all.over.push_back(diagram_.intern(Constant{size}));
  const auto put = [&](const Factors& factors, Product& to) {
    for (const auto& [base, power] : factors)
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

ExprId Algebra::build(const Term& term) {
  const ExprId size = product(parts(term));
  return term.coefficient < 0 ? apply("neg", {size}) : size;
}

ExprId Algebra::build(const Sum& sum) {
  if (sum.empty()) return diagram_.intern(Constant{0});
  const auto first = std::ranges::find_if(sum, [](const Term& t) { return t.coefficient > 0; });
  const auto start = first == sum.end() ? sum.begin() : first;
  ExprId value = build(*start);
  for (auto term = sum.begin(); term != sum.end(); ++term)
    if (term != start) value = apply(term->coefficient < 0 ? "-" : "+", {value, product(parts(*term))});
  return value;
}

}  // namespace napkin
