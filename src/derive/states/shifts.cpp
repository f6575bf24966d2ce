// Takes sums of products of shifts apart into moments, which are carried, and the distances from the centres to the
// values that the file subtracts; see moments.hpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "derive/states/analysis.hpp"

namespace napkin {
namespace {

Factors inverse(Factors factors) {
  for (auto& factor : factors) factor.second *= -1;
  return factors;
}

// A term raised to a whole power. A quotient is raised as one factor.
Term raised(Algebra& algebra, Term base, int power) {
  Term all;
  all.coefficient = std::pow(base.coefficient, power);
  base.coefficient = 1;
  if (base.factors.size() > 1) base.factors = {{algebra.build(base), 1}};
  for (const auto& [factor, once] : base.factors) all.factors.push_back({factor, once * power});
  return all;
}

}  // namespace

std::optional<Sum> StateAnalysis::about_centres(const Column& column) {
  algebra_.keep_shifts(true);
  const Sum body = algebra_.normal(column.value);
  Sum plain;
  std::vector<Shifted> shifts;
  bool fine = true;
  for (const auto& term : body) {
    const auto separated = algebra_.separate(term);
    const auto* parts = std::get_if<Algebra::Separated>(&separated);
    if (parts && parts->shifts.empty()) {
      plain.push_back(term);
      continue;
    }
    auto found = shifted(term);
    fine = fine && found && can_centre(column, *found);
    if (fine) shifts.push_back(std::move(*found));
  }
  if (auto found = subtracted(column, plain)) shifts.push_back(std::move(*found));
  algebra_.keep_shifts(false);
  if (!fine || shifts.empty()) return {};
  auto value = plain.empty() ? std::optional(Sum{}) : summed(column, plain, false);
  if (!value) return {};
  show_written_out(column, body);
  for (const auto& shift : shifts) *value = add(*value, about_centre(column, shift));
  found_.rules.insert({Rule::moments, Rule::cascade});
  step(Rule::moments, column, body, *value, "relative to a carried centre, no large terms cancel");
  return value;
}

std::optional<Shifted> StateAnalysis::shifted(const Term& term) {
  auto separated = algebra_.separate(term);
  auto* parts = std::get_if<Algebra::Separated>(&separated);
  if (!parts || parts->shifts.empty()) return {};
  Shifted found{parts->piece, parts->state, {}, false, parts->guards};
  for (const auto& shift : parts->shifts) {
    auto part = shift_in(algebra_.normal(shift.base), static_cast<int>(shift.power));
    if (part.body[0].coefficient < 0) {
      part.body = scale(part.body, -1), part.offset = scale(part.offset, -1);
      if (part.power % 2 != 0) found.state.coefficient *= -1;
    }
    found.rounded = found.rounded || shift.rounded;
    found.parts.push_back(std::move(part));
  }
  const bool single = found.parts.size() == 1 && found.parts[0].power == 1;
  return found.rounded && !single ? std::nullopt : std::optional(found);
}

Shifted::Part StateAnalysis::shift_in(const Sum& given, int power) {
  const Sum sum = algebra_.with_exponentials_as_factors(given);
  Shifted::Part part{{}, {}, power, {}, {}};
  for (const auto& term : sum) (algebra_.dependence(term).piece ? part.body : part.offset).push_back(term);
  if (std::ranges::none_of(sum, [&](const Term& t) { return algebra_.dependence(t).mixed(); })) return part;
  part.factor.coefficient = part.body[0].coefficient;
  part.factor.factors = algebra_.common_factor(sum).value();
  for (auto& term : part.body) term.factors = combined(term.factors, inverse(part.factor.factors));
  part.body = scale(part.body, 1 / part.factor.coefficient);
  for (const auto& term : std::exchange(part.offset, {})) {
    const auto quotient = divided(term, part.factor);
    (quotient ? part.offset : part.beyond).push_back(quotient.value_or(term));
  }
  return part;
}

// None if this could divide by zero where the file does not, or multiply numbers out of range.
std::optional<Term> StateAnalysis::divided(const Term& term, const Term& by) {
  Term all = term;
  all.coefficient /= by.coefficient;
  all.factors = combined(all.factors, inverse(by.factors));
  double product = 0;
  for (const auto& one : all.factors) {
    const auto multiplies = [&](const auto& factor) { return factor.first == one.first && factor.second > 0; };
    const bool size = std::holds_alternative<Size>(scratch_.at(one.first).node);
    if (!size && one.second < 0 && std::ranges::any_of(by.factors, multiplies)) return {};
    if (!size && one.second > 0) product += one.second;
  }
  return product > 1 ? std::nullopt : std::optional(all);
}

// Moves those terms of a plain sum that form one shift out of the sum.
std::optional<Shifted> StateAnalysis::subtracted(const Column& column, Sum& plain) {
  for (const bool with_factor : {true, false}) {
    Sum bare, rest;
    for (const auto& term : plain) {
      const bool alone = term.exponent.empty() && !term.cast && !term.unrounded && term.guards.empty();
      (alone && (with_factor || !algebra_.dependence(term).mixed()) ? bare : rest).push_back(term);
    }
    if (!algebra_.is_shift(bare)) continue;
    Shifted found{{}, {}, {shift_in(bare, 1)}, false};
    if (!can_centre(column, found)) continue;
    plain = rest;
    return found;
  }
  return {};
}

bool StateAnalysis::can_centre(const Column& column, const Shifted& found) {
  const auto waits = [&](const Sum& sum) { return !within(column.over, free_of(sum)).empty(); };
  if (waits({found.state})) return false;
  return std::ranges::all_of(found.parts, [&](const Shifted::Part& part) {
    const auto over = within(column.over, free_of(part.body));
    const bool fixed = !waits(part.offset) && !waits({part.factor}) && !waits(part.beyond);
    return fixed && !scales_alike(found, part) && std::ranges::find(over, wire_) != over.end();
  });
}

// Whether a finished reduction scales both the shift and the other factors; apart from the shift it could be out of
// range.
bool StateAnalysis::scales_alike(const Shifted& found, const Shifted::Part& part) const {
  if (found.piece.factors.empty()) return false;
  return std::ranges::any_of(part.factor.factors, [&](const auto& factor) {
    const auto same = [&](const auto& other) { return other.first == factor.first; };
    return algebra_.dependence(factor.first).state && std::ranges::any_of(found.state.factors, same);
  });
}

Sum StateAnalysis::about_centre(const Column& column, const Shifted& found) {
  Moment greatest{{}, {}, found.rounded, {}, {}};
  std::vector<Sum> off;
  auto along = free_of({found.piece});
  for (const auto& part : found.parts) {
    greatest.centres.push_back(centre_for(column, found, part));
    off.push_back(off_centre(greatest.centres.back(), part));
    greatest.powers.push_back(part.power);
    along.merge(free_of(part.body));
  }
  greatest.scales = scales_for(column, found);
  const auto over = within(column.over, along);
  const auto reference = reference_for({found.piece}, over, found.state.exponent);
  if (!rounds_alike(column, {found.piece}, reference)) return {};
  Sum value;
  const auto moments = moments_for(column, greatest, found.piece, over, found.state.exponent);
  for (const auto& [powers, moment] : moments) {
    auto term = distances(off, greatest.powers, powers);
    if (!term) continue;
    term->coefficient *= choose(greatest.powers, powers);
    const bool counted = is_zero(powers) && counts(found.piece);
    if (!counted) *term = napkin::multiplied(*term, restored(found, greatest, powers, moment));
    for (const auto wire : column.over)
      if (counted || std::ranges::find(over, wire) == over.end())
        term->factors = combined(term->factors, size_of(wire));
    value = add(value, {*term});
  }
  const bool even = std::ranges::all_of(greatest.powers, [](int p) { return p % 2 == 0; });
  if (value.size() > 1 && even && algebra_.positive(found.piece)) value = never_below_zero(column, value);
  if (reference) value = times(value, exponential_of(*reference));
  note_casts(found.piece);
  value = times(value, found.state);
  return guarded(column, value, value, found.guards, column.over);
}

// If a finished reduction scales the base, powers of distances may leave the range, so they are kept relative to the
// greatest magnitude.
std::vector<std::optional<std::size_t>> StateAnalysis::scales_for(const Column& column, const Shifted& found) {
  int degree = 0;
  for (const auto& part : found.parts) degree += part.power;
  std::vector<std::optional<std::size_t>> all(found.parts.size());
  for (std::size_t i = 0; degree > 1 && i < all.size(); ++i) {
    const auto& part = found.parts[i];
    if (!algebra_.dependence(part.factor).state) continue;
    const ExprId base = algebra_.build(part.body);
    if (needs_scale(found.piece, {0, 1, {{base, 1}}}))
      all[i] = greatest_of(column, magnitude_where_counted(base, found.piece), column.over);
  }
  const bool any = std::ranges::any_of(all, [](const auto& scale) { return scale.has_value(); });
  return any ? all : std::vector<std::optional<std::size_t>>{};
}

// The magnitude, or -infinity where a mask leaves out the position.
ExprId StateAnalysis::magnitude_where_counted(ExprId base, const Term& piece) {
  const ExprId nothing = scratch_.intern(Constant{-std::numeric_limits<double>::infinity()});
  ExprId all = algebra_.positive(base) ? base : algebra_.apply("abs", {base});
  for (const auto condition : conditions_of(scratch_, piece)) all = algebra_.apply("where", {condition, all, nothing});
  return all;
}

// A moment times the factors of its distances. If it is relative to a scale, it is multiplied by the quotient with the
// scale.
Term StateAnalysis::restored(const Shifted& found, const Moment& greatest, const Powers& powers, ArrayId array) {
  Term all = read_term(array);
  const bool single = std::accumulate(powers.begin(), powers.end(), 0) == 1;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    Term factor = found.parts[i].factor;
    if (powers[i] == 0 || !found.parts[i].scaled()) continue;
    if (single) return raised(algebra_, napkin::multiplied(factor, all), 1);
    if (!greatest.scales.empty() && greatest.scales[i])
      factor = napkin::multiplied(factor, scale_after(found.piece, *greatest.scales[i]));
    all = napkin::multiplied(all, raised(algebra_, factor, powers[i]));
  }
  return all;
}

// The scale after the sweep. If a mask leaves out every position there is no greatest magnitude, and the scale is 1.
Term StateAnalysis::scale_after(const Term& piece, std::size_t state) {
  const Term greatest = read_term(found_.all[state].array);
  if (conditions_of(scratch_, piece).empty()) return greatest;
  const ExprId read = greatest.factors[0].first;
  const ExprId zero = scratch_.intern(Constant{0}), one = scratch_.intern(Constant{1});
  const ExprId above = algebra_.apply(">", {read, zero});
  return as_factor(algebra_.apply("where", {above, read, one}))[0];
}

std::optional<Term> StateAnalysis::distances(const std::vector<Sum>& off, const Powers& greatest,
                                             const Powers& powers) {
  Term all;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    const int left = greatest[i] - powers[i];
    if (left == 0) continue;
    if (off[i].empty()) return {};
    Term one;
    one.factors = {{algebra_.build(off[i]), 1}};
    if (off[i].size() == 1) one = off[i][0];
    for (int k = 0; k < left; ++k) all = napkin::multiplied(all, one);
  }
  return all;
}

}  // namespace napkin
