// The greatest magnitudes that sums of powers are kept relative to; see scales.hpp.
#include "derive/states/scales.hpp"

#include <algorithm>
#include <cmath>

#include "derive/states/carried.hpp"
#include "derive/states/notes.hpp"
#include "diagram/contains.hpp"

namespace napkin {
namespace {

const Factors& raised_in(const Term& piece) { return piece.cast ? piece.rounded : piece.factors; }

// The power of `base` in `factors`, if all its factors occur with the same power.
std::optional<double> common_power(const Factors& factors, const Factors& base) {
  std::optional<double> power;
  for (const auto& [factor, once] : base) {
    const auto at = std::ranges::find(factors, factor, &std::pair<ExprId, double>::first);
    if (at == factors.end() || (power && *power != at->second / once)) return {};
    power = at->second / once;
  }
  return power && *power > 0 ? power : std::nullopt;
}

// The state as a scale of the piece, if it is the greatest magnitude of a factor.
std::optional<Reference> scale_by(const StreamAttempt& attempt, std::size_t index, const Term& piece,
                                  const std::vector<WireId>& over) {
  const auto& state = attempt.found.all[index];
  const bool plain = state.body.size() == 1 && state.body[0].coefficient == 1 && state.body[0].factors.size() == 1 &&
                     state.body[0].exponent.empty() && !state.body[0].cast;
  if (state.reduction->combine->role != Role::greatest || state.reference || state.ranked || !plain) return {};
  const auto [body, power] = state.body[0].factors[0];
  if (power != 1 || !is_positive(attempt.algebra, body)) return {};
  if (within(over, wires_below(attempt.scratch, body)) != state.over) return {};
  std::vector<Factors> bases = {{{body, 1}}};
  const auto* apply = std::get_if<Apply>(&attempt.scratch.at(body).node);
  if (apply && apply->function->role == Role::magnitude) bases.push_back({{apply->arguments[0], 1}});
  for (const auto& base : bases)
    if (const auto common = common_power(raised_in(piece), base)) return Reference{index, *common, base};
  return {};
}

// A carried maximum that serves as the scale, if the file divides by it or the power is at least 2.
std::optional<Reference> scale_of(const StreamAttempt& attempt, const Term& piece, const std::vector<WireId>& over,
                                  const Term& waiting) {
  for (std::size_t i = 0; i < attempt.found.all.size(); ++i) {
    const auto scale = scale_by(attempt, i, piece, over);
    if (!scale || !needs_scale(attempt.ranges, piece, *scale)) continue;
    const bool divides = std::ranges::any_of(waiting.factors, [&](const auto& factor) {
      return factor.second < 0 && contains(arrays_read(attempt.scratch, factor.first), attempt.found.all[i].array);
    });
    if (divides || scale->ratio >= 2) return scale;
  }
  return {};
}

Reference add_scale(StreamAttempt& attempt, const Column& column, std::pair<ExprId, double> factor,
                    const std::vector<WireId>& over) {
  const auto [base, power] = factor;
  const ExprId magnitude = is_positive(attempt.algebra, base) ? base : applied(attempt.scratch, "abs", {base});
  return {greatest_of(attempt, column, magnitude, over), power, {{base, 1}}};
}

std::optional<Reference> known_or_new_scale(StreamAttempt& attempt, const Column& column, const Term& piece,
                                            const std::vector<WireId>& over, const Term& waiting) {
  const auto& algebra = attempt.algebra;
  auto scale = scale_of(attempt, piece, over, waiting);
  for (const auto& factor : raised_in(piece)) {
    const bool known = integer(factor.second) || is_positive(algebra, factor.first);
    if (scale || factor.second < 2 || !known || !dependence(algebra, factor.first).piece) continue;
    if (needs_scale(attempt.ranges, piece, {0, factor.second, {{factor.first, 1}}}))
      scale = add_scale(attempt, column, factor, over);
  }
  return scale;
}

}  // namespace

std::optional<Factors> without(const Factors& factors, const Reference& scale) {
  const auto power = common_power(factors, scale.base);
  if (!power || *power != scale.ratio) return {};
  Factors rest = factors;
  for (const auto& [factor, once] : scale.base) rest = combined(rest, {{factor, -once * scale.ratio}});
  return rest;
}

Term relative_to(Diagram& diagram, const Term& piece, const Reference& scale, ExprId greatest) {
  Term all = piece, base;
  base.factors = scale.base;
  Factors& factors = all.cast ? all.rounded : all.factors;
  const ExprId share = applied(diagram, "/", {build(diagram, base), greatest});
  factors = combined(without(factors, scale).value(), {{share, scale.ratio}});
  return all;
}

std::optional<Reference> scaled(StreamAttempt& attempt, const Column& column, const Sum& piece,
                                const std::vector<WireId>& over, const Term& waiting) {
  auto& algebra = attempt.algebra;
  const bool sums = column.fold->combine->role == Role::add && piece.size() == 1 && piece[0].exponent.empty();
  const auto scales = [&](const auto& factor) { return dependence(algebra, factor.first).state; };
  if (!sums || std::ranges::none_of(waiting.factors, scales)) return {};
  const auto scale = known_or_new_scale(attempt, column, piece[0], over, waiting);
  if (!scale) return {};
  const ExprId greatest = read_whole(attempt.scratch, attempt.found.all[scale->state].array);
  Term after = reduction(attempt, column, {relative_to(attempt.scratch, piece[0], *scale, greatest)})[0];
  after.factors = combined(after.factors, {{greatest, scale->ratio}});
  note_step(attempt, Rule::cascade, build(attempt.scratch, reduction(attempt, column, piece)),
            build(attempt.scratch, after), "kept relative to the greatest magnitude of the base, it cannot overflow");
  return scale;
}

Sum rescaled(StreamAttempt& attempt, const Sum& sum, const Reference& scale, const Term& waiting) {
  auto& algebra = attempt.algebra;
  const ExprId greatest = read_whole(attempt.scratch, attempt.found.all[scale.state].array);
  const auto divides = [&](const auto& factor) {
    const double share = factor.second / scale.ratio;
    return dependence(algebra, factor.first).state && (integer(share) || is_positive(algebra, factor.first));
  };
  auto at = std::ranges::find(waiting.factors, greatest, &std::pair<ExprId, double>::first);
  if (at == waiting.factors.end()) at = std::ranges::find_if(waiting.factors, divides);
  Term ratio, rest = waiting;
  ratio.factors = {{greatest, 1}};
  if (at != waiting.factors.end()) {
    ratio.factors = combined(ratio.factors, {{at->first, at->second / scale.ratio}});
    std::erase(rest.factors, *at);
  }
  if (ratio.factors.size() == 1)
    rest.factors = combined(rest.factors, {{ratio.factors[0].first, ratio.factors[0].second * scale.ratio}});
  else if (!ratio.factors.empty())
    rest.factors = combined(rest.factors, {{build(attempt.scratch, ratio), scale.ratio}});
  return times(sum, rest);
}

bool needs_scale(const Ranges& ranges, const Term& piece, const Reference& scale) {
  constexpr double most_factors = 4;
  Term base;
  base.factors = scale.base;
  return !piece.moved.empty() || scale.ratio > most_factors || !ranges.exact_in(Datatype::f16, base);
}

std::size_t greatest_of(StreamAttempt& attempt, const Column& column, ExprId magnitude,
                        const std::vector<WireId>& over) {
  Column greatest = column;
  greatest.fold = find_reduction("max");
  const Sum body = as_factor(magnitude);
  return state_for(attempt, greatest, body, within(over, free_of(attempt, body)), {}, false, false);
}

ExprId magnitude_where_counted(StreamAttempt& attempt, ExprId base, const Term& piece) {
  auto& algebra = attempt.algebra;
  const ExprId nothing = attempt.scratch.intern(Constant{-infinity});
  ExprId all = is_positive(algebra, base) ? base : applied(attempt.scratch, "abs", {base});
  for (const auto condition : conditions_of(attempt.scratch, piece))
    all = applied(attempt.scratch, "where", {condition, all, nothing});
  return all;
}

Term scale_after(StreamAttempt& attempt, const Term& piece, std::size_t state) {
  const Term greatest = read_term(attempt.scratch, attempt.found.all[state].array);
  if (conditions_of(attempt.scratch, piece).empty()) return greatest;
  const ExprId read = greatest.factors[0].first;
  const ExprId zero = attempt.scratch.intern(Constant{0}), one = attempt.scratch.intern(Constant{1});
  const ExprId above = applied(attempt.scratch, ">", {read, zero});
  return as_factor(applied(attempt.scratch, "where", {above, read, one}))[0];
}

}  // namespace napkin
