// Takes choices apart: what depends on finished reductions alone moves out of them; see branches.hpp.
#include "derive/algebra/branches.hpp"

#include <algorithm>

#include "derive/algebra/build.hpp"
#include "derive/algebra/normal.hpp"
#include "derive/algebra/separate.hpp"
#include "diagram/contains.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

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

// Whether a condition, in each of its parts, compares the streamed wire's positions with those of other wires, as
// `x <= q` does. Each of them, but for some at an end, then counts somewhere, where the file uses what is computed
// there.
bool compares_wires(const Algebra& algebra, ExprId condition) {
  const auto* apply = std::get_if<Apply>(&algebra.diagram.at(condition).node);
  if (apply && is_conjunction(*apply->function))
    return std::ranges::all_of(apply->arguments, [&](ExprId part) { return compares_wires(algebra, part); });
  const auto wires = free_wires(algebra.diagram, condition);
  return arrays_read(algebra.diagram, condition).empty() && wires.size() > 1 && contains(wires, algebra.meaning.wire);
}

// The sum where `condition` holds (or, with `when` false, fails), 0 elsewhere, factor by factor.
Sum kept_where(Algebra& algebra, ExprId condition, const Sum& sum, bool when) {
  const ExprId zero = algebra.diagram.intern(Constant{0});
  const ExprId never = algebra.diagram.intern(Constant{-infinity});
  const auto choice = [&](ExprId inside, ExprId outside) {
    if (when && chooses(algebra.diagram, inside, condition, outside)) return inside;
    return when ? applied(algebra.diagram, "where", {condition, inside, outside})
                : applied(algebra.diagram, "where", {condition, outside, inside});
  };
  const auto asked = [&] { return when ? condition : applied(algebra.diagram, "not", {condition}); };
  Sum all;
  for (const auto& term : is_shift(algebra, sum) ? as_factor(build(algebra.diagram, sum)) : sum) {
    auto separated = separate(algebra, term);
    const auto* parts = std::get_if<SeparatedTerm>(&separated);
    const bool rounds = parts && std::ranges::any_of(parts->shifts, &Shift::rounded);
    if (!parts || rounds) return as_factor(choice(build(algebra.diagram, sum), zero), moved_in(sum));
    const auto whole = [&](const Factors& factors) {
      Term product;
      product.factors = factors;
      return build(algebra.diagram, product);
    };
    const auto kept = [&](const Factors& factors) {
      return factors.empty() ? factors : as_factor(choice(whole(factors), zero))[0].factors;
    };
    Term piece = parts->piece;
    if (!piece.exponent.empty()) {
      const Sum masked = as_factor(choice(build(algebra.diagram, piece.exponent), never));
      for (auto& moved : piece.moved)
        if (equal(moved.rounded[0].exponent, piece.exponent)) moved.rounded[0].exponent = masked;
      piece.exponent = masked;
      // It is 0 where the condition leaves something out, by which only what is finite may be multiplied.
      for (auto* factors : {&piece.factors, &piece.rounded})
        if (!compares_wires(algebra, condition) && !algebra.meaning.finite(whole(*factors))) *factors = kept(*factors);
    } else {
      const bool bare = piece.factors.empty() && piece.rounded.empty();
      piece.factors = bare ? as_factor(choice(build(algebra.diagram, piece), zero))[0].factors : kept(piece.factors);
      piece.rounded = kept(piece.rounded);
    }
    for (const auto& shift : parts->shifts) piece.factors = combined(piece.factors, {{shift.base, shift.power}});
    Term kept_term = multiplied(piece, parts->state);
    const bool waits = !parts->shifts.empty() || !parts->state.factors.empty() || !parts->state.exponent.empty();
    kept_term.guards = waits ? together(parts->guards, {asked()}) : parts->guards;
    all = add(all, {kept_term});
  }
  return all;
}

}  // namespace

Sum chosen(Algebra& algebra, ExprId e, const Apply& a) {
  const ExprId condition = a.arguments[0];
  if (const ExprId known = build(algebra.diagram, normal(algebra, condition));
      dependence(algebra, condition).state && known != condition) {
    const Apply made{a.function, {known, a.arguments[1], a.arguments[2]}};
    return chosen(algebra, algebra.diagram.intern(made), made);
  }
  const Sum yes = normal(algebra, a.arguments[1]);
  const bool otherwise_zero = is_zero(algebra.diagram, a.arguments[2]);
  const bool mixed =
      dependence(algebra, yes).mixed() || dependence(algebra, normal(algebra, a.arguments[2])).mixed() ||
      (dependence(algebra, a.arguments[1]) | dependence(algebra, a.arguments[2]) | dependence(algebra, condition))
          .mixed();
  if (dependence(algebra, condition).state) return opaque(algebra, e, a);
  const bool apart = yes.size() == 1 || !algebra.keeps_sums;
  if (otherwise_zero && apart && (mixed || holds_exponential(algebra.diagram, a.arguments[1])))
    return kept_where(algebra, condition, yes, true);
  if (!mixed) return dependence(algebra, e).state ? opaque(algebra, e, a) : as_factor(e);
  if (algebra.keeps_sums) return opaque(algebra, e, a);
  if (is_minus_infinity(algebra.diagram, a.arguments[2])) {
    Sum inside, outside;
    for (const auto& term : yes) (dependence(algebra, term).state ? outside : inside).push_back(term);
    if (dependence(algebra, outside).piece) return opaque(algebra, e, a);
    for (auto& term : outside) term.guards = together(term.guards, {condition});
    return add(as_factor(applied(algebra.diagram, "where", {condition, build(algebra.diagram, inside), a.arguments[2]}),
                         moved_in(inside)),
               outside);
  }
  const Sum where_true = kept_where(algebra, condition, yes, true);
  return add(where_true, kept_where(algebra, condition, normal(algebra, a.arguments[2]), false));
}

}  // namespace napkin
