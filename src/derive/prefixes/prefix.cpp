#include "derive/prefixes/prefix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "derive/algebra/conditions.hpp"
#include "diagram/contains.hpp"
#include "diagram/operands.hpp"
#include "diagram/order.hpp"

namespace napkin {
namespace {

const Apply* applied(const Diagram& diagram, ExprId e, Role role) {
  const auto* apply = std::get_if<Apply>(&diagram.at(e).node);
  return apply && apply->function->role == role ? apply : nullptr;
}

// Positions are whole numbers: `x < t + 1` is `x <= t`, and `x >= t + 1` is `x > t`.
PrefixEdge nearest_form(PrefixEdge edge) {
  const auto next = edge.before ? 1 : -1;
  if (edge.offset == (edge.with ? -next : next)) edge.with = !edge.with, edge.offset = 0;
  return edge;
}

// Reads `x <= t + 3`, `x < t`, their mirror images and the negation of each. The two wires must have the same length.
std::optional<PrefixEdge> edge_of(const Diagram& diagram, ExprId comparison, const Reduce& reduce) {
  if (const auto* negated = applied(diagram, comparison, Role::logic); negated && negated->arguments.size() == 1) {
    auto edge = edge_of(diagram, negated->arguments[0], reduce);
    if (edge) *edge = {comparison, edge->reduced, edge->kept, !edge->before, !edge->with, edge->offset};
    return edge;
  }
  if (!applied(diagram, comparison, Role::compare)) return std::nullopt;
  const auto found = condition(diagram, comparison);
  if (!found || found->terms.size() != 2 || found->below == found->above || !found->sizes.empty()) return std::nullopt;
  auto [x, factor] = found->terms[0];
  auto [t, other] = found->terms[1];
  if (!contains(reduce.over, x)) std::swap(x, t), std::swap(factor, other);
  const bool apart = contains(reduce.over, x) && !contains(reduce.over, t) && factor == -other;
  if (!apart || !diagram.size(x) || diagram.size(x) != diagram.size(t)) return std::nullopt;
  const double offset = -found->offset / factor;
  if (std::trunc(offset) != offset || std::abs(offset) > static_cast<double>(*diagram.size(t))) return std::nullopt;
  return nearest_form({comparison, x, t, found->below == (factor > 0), found->at, static_cast<std::int64_t>(offset)});
}

class Separator {
 public:
  Separator(Diagram& diagram, const Reduce& reduce, const PrefixEdge& edge) : diagram_(diagram), reduce_(reduce) {
    made_.edge = edge;
  }

  Separation run() {
    const bool sums = reduce_.reduction->combine->role == Role::add;
    const bool apart = reduce_.over.size() == 1 && (sums ? product(reduce_.body, true) : extreme(reduce_.body));
    if (apart && edges_ > 0) return find_slopes(), std::move(made_);
    if (edges_ == 0 && apart) return std::monostate();
    if (reason_.empty()) fail(reduce_.body, "more than one axis is reduced at once");
    return Inseparable{made_.edge, part_, reason_};
  }

 private:
  bool has(ExprId e, WireId wire) const { return contains(free_wires(diagram_, e), wire); }
  bool mixes(ExprId e) const { return has(e, made_.edge.reduced) && has(e, made_.edge.kept); }
  Separated::Side& side(ExprId e) { return has(e, made_.edge.reduced) ? made_.reduced : made_.kept; }
  bool fail(ExprId part, std::string reason) {
    if (reason_.empty()) part_ = part, reason_ = std::move(reason);
    return false;
  }
  bool stays_mixed(ExprId e) {
    const auto name = [&](WireId wire) { return diagram_.at(wire).name; };
    return fail(e, fmt::format("`{}` depends on {} and {}, and is no product of a factor of each",
                               to_short_text(diagram_, e), name(made_.edge.kept), name(made_.edge.reduced)));
  }
  bool stays_inside(ExprId e) {
    return fail(e, fmt::format("`{}` depends on {}, and `{}` cannot take it out", to_short_text(diagram_, e),
                               diagram_.at(made_.edge.kept).name, reduce_.reduction->name));
  }
  bool is_number(ExprId e, double value) const {
    const auto* constant = std::get_if<Constant>(&diagram_.at(e).node);
    return constant && constant->value == value;
  }

  bool product(ExprId e, bool over) {
    if (!mixes(e)) return (over ? side(e).factors : side(e).divisors).push_back(e), true;
    const auto node = diagram_.at(e).node;
    if (const auto* reduce = std::get_if<Reduce>(&node)) return over ? inner_sum(*reduce, e) : stays_mixed(e);
    if (std::holds_alternative<Cast>(node))
      return fail(e, fmt::format("`{}` is rounded before it is reduced", to_short_text(diagram_, e)));
    const auto* apply = std::get_if<Apply>(&node);
    if (!apply) return stays_mixed(e);
    const auto& arguments = apply->arguments;
    switch (apply->function->role) {
      case Role::multiply:
        return product(arguments[0], over) && product(arguments[1], over);
      case Role::divide:
        return product(arguments[0], over) && product(arguments[1], !over);
      case Role::negate:
        return made_.kept.factors.push_back(number(-1)), product(arguments[0], over);
      case Role::exponential:
        return same_exponential(*apply, e) && exponent(arguments[0], {}, !over);
      case Role::choose:
        if (over && is_number(arguments[2], 0)) return guard(arguments[0]) && product(arguments[1], true);
        return stays_mixed(e);
      default:
        return stays_mixed(e);
    }
  }
  bool inner_sum(const Reduce& reduce, ExprId e) {
    const bool again = std::ranges::any_of(reduce.over, [&](WireId wire) { return contains(made_.inner, wire); });
    if (again || reduce.reduction != reduce_.reduction) return stays_mixed(e);
    made_.inner.insert(made_.inner.end(), reduce.over.begin(), reduce.over.end());
    return product(reduce.body, true);
  }
  bool same_exponential(const Apply& apply, ExprId e) {
    if (made_.exponential && made_.exponential != apply.function) return stays_mixed(e);
    made_.exponential = apply.function;
    return true;
  }

  // A sum in which every part depends on one side only, multiplied by factors that depend on neither side.
  bool exponent(ExprId e, std::vector<ExprId> times, bool negative) {
    if (!mixes(e)) {
      for (const auto factor : times) e = made("*", {factor, e});
      side(e).exponents.push_back(negative ? made("neg", {e}) : e);
      return true;
    }
    const auto* found = std::get_if<Apply>(&diagram_.at(e).node);
    if (!found) return stays_mixed(e);
    const auto apply = *found;
    const auto& arguments = apply.arguments;
    switch (apply.function->role) {
      case Role::add:
        return exponent(arguments[0], times, negative) && exponent(arguments[1], times, negative);
      case Role::subtract:
        return exponent(arguments[0], times, negative) && exponent(arguments[1], times, !negative);
      case Role::negate:
        return exponent(arguments[0], times, !negative);
      case Role::multiply: {
        const bool first = is_of_neither(arguments[0]);
        if (!first && !is_of_neither(arguments[1])) return stays_mixed(e);
        times.push_back(arguments[first ? 0 : 1]);
        return exponent(arguments[first ? 1 : 0], times, negative);
      }
      case Role::divide:
        if (!is_of_neither(arguments[1])) return stays_mixed(e);
        times.push_back(made("/", {number(1), arguments[1]}));
        return exponent(arguments[0], times, negative);
      case Role::choose:
        if (negative || !times.empty() || !is_number(arguments[2], -HUGE_VAL)) return stays_mixed(e);
        return guard(arguments[0]) && exponent(arguments[1], times, negative);
      default:
        return stays_mixed(e);
    }
  }
  bool is_of_neither(ExprId e) const { return !has(e, made_.edge.reduced) && !has(e, made_.edge.kept); }

  // ---- c * t on one side and -c * x on the other ----
  struct Slope {
    std::vector<ExprId> factors;  // sorted
    bool negative = false, of_position = false;
  };
  void find_slopes() {
    auto& kept = made_.kept.exponents;
    for (auto mine = kept.begin(); mine != kept.end();) {
      const auto opposite = opposite_of(*mine);
      if (opposite == made_.reduced.exponents.end()) {
        ++mine;
        continue;
      }
      made_.slopes.push_back(product(*slope_of(*mine, made_.edge.kept)));
      made_.reduced.exponents.erase(opposite);
      mine = kept.erase(mine);
    }
  }
  std::vector<ExprId>::iterator opposite_of(ExprId of_kept) {
    auto& reduced = made_.reduced.exponents;
    const auto mine = slope_of(of_kept, made_.edge.kept);
    if (!mine) return reduced.end();
    return std::ranges::find_if(reduced, [&](ExprId e) {
      const auto theirs = slope_of(e, made_.edge.reduced);
      return theirs && theirs->factors == mine->factors && theirs->negative != mine->negative;
    });
  }
  std::optional<Slope> slope_of(ExprId e, WireId wire) const {
    Slope made;
    if (!collect_slope(e, wire, made) || !made.of_position) return std::nullopt;
    std::ranges::sort(made.factors);
    return made;
  }
  bool collect_slope(ExprId e, WireId wire, Slope& to) const {
    if (is_of_neither(e)) return to.factors.push_back(e), true;
    const auto* position = std::get_if<Position>(&diagram_.at(e).node);
    if (position && position->wire == wire) return !std::exchange(to.of_position, true);
    if (const auto* negated = applied(diagram_, e, Role::negate))
      return to.negative = !to.negative, collect_slope(negated->arguments[0], wire, to);
    const auto* times = applied(diagram_, e, Role::multiply);
    return times && collect_slope(times->arguments[0], wire, to) && collect_slope(times->arguments[1], wire, to);
  }
  ExprId product(const Slope& slope) {
    ExprId all = slope.factors.empty() ? number(1) : slope.factors[0];
    for (std::size_t i = 1; i < slope.factors.size(); ++i) all = made("*", {all, slope.factors[i]});
    return slope.negative ? made("neg", {all}) : all;
  }

  // Recognizes `where(x <= t, g(t) + h(x), identity)`. For reductions other than max and min, g(t) must be absent.
  bool extreme(ExprId e) {
    const auto* choice = applied(diagram_, e, Role::choose);
    if (choice && is_number(choice->arguments[2], reduce_.reduction->identity)) {
      const auto arguments = choice->arguments;
      return guard(arguments[0]) && extreme(arguments[1]);
    }
    if (!has(e, made_.edge.kept)) return made_.reduced.exponents.push_back(e), true;
    const bool moves = std::isinf(reduce_.reduction->identity);  // max(g + h) = g + max(h)
    if (moves && mixes(e)) return exponent(e, {}, false);
    if (!moves) return mixes(e) ? stays_mixed(e) : stays_inside(e);
    made_.reduced.exponents.push_back(number(0));
    return made_.kept.exponents.push_back(e), true;
  }

  bool guard(ExprId e) {
    const auto* both = applied(diagram_, e, Role::logic);
    if (both && is_conjunction(*both->function)) {
      const auto arguments = both->arguments;
      return guard(arguments[0]) && guard(arguments[1]);
    }
    if (!mixes(e)) return side(e).guards.push_back(e), true;
    const auto edge = edge_of(diagram_, e, reduce_);
    const auto& own = made_.edge;
    if (!edge || edge->before != own.before || edge->with != own.with || edge->offset != own.offset)
      return fail(e, fmt::format("`{}` leaves out more than the positions {} {}", to_short_text(diagram_, e),
                                 own.before ? "after" : "before", diagram_.at(own.kept).name));
    ++edges_;
    return true;
  }

  ExprId number(double value) { return diagram_.intern(Constant{value}); }
  ExprId made(std::string_view function, std::vector<ExprId> arguments) {
    return diagram_.intern(Apply{find_pointwise(function), std::move(arguments)});
  }

  Diagram& diagram_;
  const Reduce& reduce_;
  Separated made_;
  int edges_ = 0;
  ExprId part_{};
  std::string reason_;
};

}  // namespace

std::optional<PrefixEdge> prefix_edge(const Diagram& diagram, const Reduce& reduce) {
  std::optional<PrefixEdge> found;
  const auto is_edge = [&](ExprId condition) {
    const auto edge = edge_of(diagram, condition, reduce);
    if (edge && (!found || edge->offset == 0)) found = edge;
    return edge && edge->offset == 0;
  };
  any_part(diagram, reduce.body, [&](ExprId part) {
    const auto* choice = applied(diagram, part, Role::choose);
    return choice && any_part(diagram, choice->arguments[0], is_edge);
  });
  return found;
}

Separation separate_prefix(Diagram& diagram, const Reduce& reduce) {
  const auto edge = prefix_edge(diagram, reduce);
  if (!edge) return std::monostate();
  if (edge->offset != 0)
    return Inseparable{*edge, edge->condition,
                       fmt::format("`{}` keeps {} and {} apart by {}, so chunks of the two do not end together",
                                   to_short_text(diagram, edge->condition), diagram.at(edge->reduced).name,
                                   diagram.at(edge->kept).name, std::abs(edge->offset))};
  return Separator(diagram, reduce, *edge).run();
}

}  // namespace napkin
