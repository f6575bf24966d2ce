// Sums of powers are kept relative to the greatest magnitude of the base, as sums of exponentials are kept relative to
// the greatest exponent (docs/theory.md, powers).
#include <algorithm>
#include <cmath>

#include "derive/states/analysis.hpp"

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

}  // namespace

std::optional<Factors> without(const Factors& factors, const Reference& scale) {
  const auto power = common_power(factors, scale.base);
  if (!power || *power != scale.ratio) return {};
  Factors rest = factors;
  for (const auto& [factor, once] : scale.base) rest = combined(rest, {{factor, -once * scale.ratio}});
  return rest;
}

Term relative_to(Algebra& algebra, const Term& piece, const Reference& scale, ExprId greatest) {
  Term all = piece, base;
  base.factors = scale.base;
  Factors& factors = all.cast ? all.rounded : all.factors;
  const ExprId share = algebra.apply("/", {algebra.build(base), greatest});
  factors = combined(without(factors, scale).value(), {{share, scale.ratio}});
  return all;
}

std::optional<Reference> StateAnalysis::scaled(const Column& column, const Sum& piece, const std::vector<WireId>& over,
                                               const Term& waiting) {
  const bool sums = column.fold->combine->role == Role::add && piece.size() == 1 && piece[0].exponent.empty();
  const auto scales = [&](const auto& factor) { return algebra_.dependence(factor.first).state; };
  if (!sums || std::ranges::none_of(waiting.factors, scales)) return {};
  auto scale = scale_of(piece[0], over, waiting);
  for (const auto& factor : raised_in(piece[0])) {
    const bool known = integer(factor.second) || algebra_.positive(factor.first);
    if (scale || factor.second < 2 || !known || !algebra_.dependence(factor.first).piece) continue;
    if (needs_scale(piece[0], {0, factor.second, {{factor.first, 1}}})) scale = add_scale(column, factor, over);
  }
  if (!scale) return {};
  const ExprId greatest = read_whole(scratch_, found_.all[scale->state].array);
  Term after = reduction(column, {relative_to(algebra_, piece[0], *scale, greatest)})[0];
  after.factors = combined(after.factors, {{greatest, scale->ratio}});
  note_step(Rule::cascade, algebra_.build(reduction(column, piece)), algebra_.build(after),
            "kept relative to the greatest magnitude of the base, it cannot overflow");
  return scale;
}

// A carried maximum that serves as the scale, if the file divides by it or the power is at least 2.
std::optional<Reference> StateAnalysis::scale_of(const Term& piece, const std::vector<WireId>& over,
                                                 const Term& waiting) const {
  for (std::size_t i = 0; i < found_.all.size(); ++i) {
    const auto scale = scale_by(i, piece, over);
    if (!scale || !needs_scale(piece, *scale)) continue;
    const bool divides = std::ranges::any_of(waiting.factors, [&](const auto& factor) {
      const auto read = arrays_read(scratch_, factor.first);
      return factor.second < 0 && std::ranges::find(read, found_.all[i].array) != read.end();
    });
    if (divides || scale->ratio >= 2) return scale;
  }
  return {};
}

std::optional<Reference> StateAnalysis::scale_by(std::size_t index, const Term& piece,
                                                 const std::vector<WireId>& over) const {
  const auto& state = found_.all[index];
  const bool plain = state.body.size() == 1 && state.body[0].coefficient == 1 && state.body[0].factors.size() == 1 &&
                     state.body[0].exponent.empty() && !state.body[0].cast;
  if (state.reduction->combine->role != Role::greatest || state.reference || state.ranked || !plain) return {};
  const auto [body, power] = state.body[0].factors[0];
  const auto* apply = std::get_if<Apply>(&scratch_.at(body).node);
  const bool magnitude = apply && apply->function->role == Role::magnitude;
  if (power != 1 || !algebra_.positive(body)) return {};
  const auto free = free_wires(scratch_, body);
  if (within(over, {free.begin(), free.end()}) != state.over) return {};
  std::vector<Factors> bases = {{{body, 1}}};
  if (magnitude) bases.push_back({{apply->arguments[0], 1}});
  for (const auto& base : bases)
    if (const auto common = common_power(raised_in(piece), base)) return Reference{index, *common, base};
  return {};
}

// Products of few 16-bit numbers stay within the range of f32 without a scale.
bool StateAnalysis::needs_scale(const Term& piece, const Reference& scale) const {
  constexpr double most_factors = 4;
  Term base;
  base.factors = scale.base;
  return !piece.moved.empty() || scale.ratio > most_factors || !ranges_.exact_in(Datatype::f16, base);
}

Reference StateAnalysis::add_scale(const Column& column, std::pair<ExprId, double> factor,
                                   const std::vector<WireId>& over) {
  const auto [base, power] = factor;
  const ExprId magnitude = algebra_.positive(base) ? base : algebra_.apply("abs", {base});
  return {greatest_of(column, magnitude, over), power, {{base, 1}}};
}

std::size_t StateAnalysis::greatest_of(const Column& column, ExprId magnitude, const std::vector<WireId>& over) {
  Term body;
  body.factors = {{magnitude, 1}};
  Column greatest = column;
  greatest.fold = find_reduction("max");
  return state_for(greatest, {body}, within(over, free_of({body})), {}, false, false);
}

Sum StateAnalysis::rescaled(const Sum& sum, const Reference& scale, const Term& waiting) {
  const ExprId greatest = read_whole(scratch_, found_.all[scale.state].array);
  const auto divides = [&](const auto& factor) {
    const double share = factor.second / scale.ratio;
    return algebra_.dependence(factor.first).state && (integer(share) || algebra_.positive(factor.first));
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
    rest.factors = combined(rest.factors, {{algebra_.build(ratio), scale.ratio}});
  return times(sum, rest);
}

}  // namespace napkin
