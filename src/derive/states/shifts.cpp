// Takes sums of products of shifts apart into moments, which are carried, and the distances from the centres to the
// values that the file subtracts; see shifts.hpp.
#include "derive/states/shifts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "derive/states/carried.hpp"
#include "derive/states/centring.hpp"
#include "derive/states/guards.hpp"
#include "derive/states/notes.hpp"
#include "derive/states/rounding.hpp"
#include "derive/states/scales.hpp"
#include "derive/states/sums.hpp"
#include "diagram/contains.hpp"

namespace napkin {
namespace {

// ---- shifts ----

// None if this could divide by zero where the file does not, or multiply numbers out of range.
std::optional<Term> divided(const Diagram& diagram, const Term& term, const Term& by) {
  Term all = term;
  all.coefficient /= by.coefficient;
  all.factors = combined(all.factors, powers(by.factors, -1));
  double product = 0;
  for (const auto& one : all.factors) {
    const auto multiplies = [&](const auto& factor) { return factor.first == one.first && factor.second > 0; };
    const bool size = std::holds_alternative<Size>(diagram.at(one.first).node);
    if (!size && one.second < 0 && std::ranges::any_of(by.factors, multiplies)) return {};
    if (!size && one.second > 0) product += one.second;
  }
  return product > 1 ? std::nullopt : std::optional(all);
}

// Separates a sum into pieces, their common factor and the values added to them.
Shifted::Part shift_in(StreamAttempt& attempt, const Sum& given, int power) {
  auto& algebra = attempt.algebra;
  const Sum sum = with_exponentials_as_factors(algebra, given);
  Shifted::Part part{{}, {}, power, {}, {}};
  for (const auto& term : sum) (dependence(algebra, term).piece ? part.body : part.offset).push_back(term);
  const auto mixes = [&](const Term& term) { return dependence(algebra, term).mixed(); };
  if (std::ranges::none_of(sum, mixes)) return part;
  part.factor.coefficient = part.body[0].coefficient;
  part.factor.factors = common_factor(algebra, sum).value();
  for (auto& term : part.body) term.factors = combined(term.factors, powers(part.factor.factors, -1));
  part.body = scale(part.body, 1 / part.factor.coefficient);
  for (const auto& term : std::exchange(part.offset, {})) {
    const auto quotient = divided(attempt.scratch, term, part.factor);
    (quotient ? part.offset : part.beyond).push_back(quotient.value_or(term));
  }
  return part;
}

std::optional<Shifted> shifted(StreamAttempt& attempt, const Term& term) {
  const auto separated = separate(attempt.algebra, term);
  const auto* parts = std::get_if<SeparatedTerm>(&separated);
  if (!parts || parts->shifts.empty()) return {};
  Shifted found{parts->piece, parts->state, {}, false, parts->guards};
  for (const auto& shift : parts->shifts) {
    auto part = shift_in(attempt, normal(attempt.algebra, shift.base), static_cast<int>(shift.power));
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

// Whether a finished reduction scales both the shift and the other factors; apart from the shift it could be out of
// range.
bool scales_alike(const Algebra& algebra, const Shifted& found, const Shifted::Part& part) {
  if (found.piece.factors.empty()) return false;
  return std::ranges::any_of(part.factor.factors, [&](const auto& factor) {
    const auto same = [&](const auto& other) { return other.first == factor.first; };
    return dependence(algebra, factor.first).state && std::ranges::any_of(found.state.factors, same);
  });
}

// Values applied in finish may not vary along the folded wires.
bool can_centre(StreamAttempt& attempt, const Column& column, const Shifted& found) {
  const auto waits = [&](const Sum& sum) { return !within(column.over, free_of(attempt, sum)).empty(); };
  if (waits({found.state})) return false;
  return std::ranges::all_of(found.parts, [&](const Shifted::Part& part) {
    const auto over = within(column.over, free_of(attempt, part.body));
    const bool fixed = !waits(part.offset) && !waits({part.factor}) && !waits(part.beyond);
    return fixed && !scales_alike(attempt.algebra, found, part) && contains(over, attempt.wire);
  });
}

// Moves those terms of a plain sum that form one shift out of the sum.
std::optional<Shifted> subtracted(StreamAttempt& attempt, const Column& column, Sum& plain) {
  for (const bool with_factor : {true, false}) {
    Sum bare, rest;
    for (const auto& term : plain) {
      const bool alone = term.exponent.empty() && !term.cast && !term.unrounded && term.guards.empty();
      (alone && (with_factor || !dependence(attempt.algebra, term).mixed()) ? bare : rest).push_back(term);
    }
    if (!is_shift(attempt.algebra, bare)) continue;
    Shifted found{{}, {}, {shift_in(attempt, bare, 1)}, false};
    if (!can_centre(attempt, column, found)) continue;
    plain = rest;
    return found;
  }
  return {};
}

// ---- values in finish ----

// If a finished reduction scales the base, powers of distances may leave the range, so they are kept relative to the
// greatest magnitude.
std::vector<std::optional<std::size_t>> scales_for(StreamAttempt& attempt, const Column& column, const Shifted& found) {
  int degree = 0;
  for (const auto& part : found.parts) degree += part.power;
  std::vector<std::optional<std::size_t>> all(found.parts.size());
  for (std::size_t i = 0; degree > 1 && i < all.size(); ++i) {
    const auto& part = found.parts[i];
    if (!dependence(attempt.algebra, part.factor).state) continue;
    const ExprId base = build(attempt.scratch, part.body);
    if (needs_scale(attempt.ranges, found.piece, {0, 1, {{base, 1}}}))
      all[i] = greatest_of(attempt, column, magnitude_where_counted(attempt, base, found.piece), column.over);
  }
  const bool any = std::ranges::any_of(all, [](const auto& scale) { return scale.has_value(); });
  return any ? all : std::vector<std::optional<std::size_t>>{};
}

// A term raised to a whole power. A quotient is raised as one factor.
Term raised(Diagram& diagram, Term base, int power) {
  Term all;
  all.coefficient = std::pow(base.coefficient, power);
  base.coefficient = 1;
  if (base.factors.size() > 1) base.factors = {{build(diagram, base), 1}};
  all.factors = powers(base.factors, power);
  return all;
}

// A moment times the factors of its distances. If it is relative to a scale, it is multiplied by the quotient with the
// scale.
Term restored(StreamAttempt& attempt, const Shifted& found, const Moment& greatest, const Powers& degrees,
              ArrayId array) {
  Term all = read_term(attempt.scratch, array);
  const bool single = std::accumulate(degrees.begin(), degrees.end(), 0) == 1;
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    Term factor = found.parts[i].factor;
    if (degrees[i] == 0 || !found.parts[i].scaled()) continue;
    if (single) return raised(attempt.scratch, multiplied(factor, all), 1);
    if (!greatest.scales.empty() && greatest.scales[i])
      factor = multiplied(factor, scale_after(attempt, found.piece, *greatest.scales[i]));
    all = multiplied(all, raised(attempt.scratch, factor, degrees[i]));
  }
  return all;
}

// The distances from the centres, raised to the difference of `greatest` and `degrees`; none if one distance is zero.
std::optional<Term> distances(Diagram& diagram, const std::vector<Sum>& off, const Powers& greatest,
                              const Powers& degrees) {
  Term all;
  for (std::size_t i = 0; i < degrees.size(); ++i) {
    const int left = greatest[i] - degrees[i];
    if (left == 0) continue;
    if (off[i].empty()) return {};
    Term one = as_factor(build(diagram, off[i]))[0];
    if (off[i].size() == 1) one = off[i][0];
    for (int k = 0; k < left; ++k) all = multiplied(all, one);
  }
  return all;
}

// Clamps a value that only rounding can make negative.
Sum never_below_zero(StreamAttempt& attempt, const Column& column, const Sum& value) {
  const ExprId whole = build(attempt.scratch, value), zero = attempt.scratch.intern(Constant{0});
  const ExprId clamped = applied(attempt.scratch, "where", {applied(attempt.scratch, "<", {whole, zero}), zero, whole});
  const auto wires = free_of(attempt, value);
  const auto array = finished_array(attempt, column, {wires.begin(), wires.end()}, clamped);
  attempt.positive.insert(array);
  return {read_term(attempt.scratch, array)};
}

// The centres of a shift, and the distance of each from what the file subtracts.
struct Centred {
  Moment greatest;
  std::vector<Sum> off;
  std::vector<WireId> over;  // that are folded with each piece
};

Centred centred(StreamAttempt& attempt, const Column& column, const Shifted& found) {
  Centred all{{{}, {}, found.rounded, {}, {}}, {}, {}};
  auto along = free_of(attempt, {found.piece});
  for (const auto& part : found.parts) {
    all.greatest.centres.push_back(centre_for(attempt, column, found, part));
    all.off.push_back(off_centre(attempt, all.greatest.centres.back(), part));
    all.greatest.powers.push_back(part.power);
    along.merge(free_of(attempt, part.body));
  }
  all.greatest.scales = scales_for(attempt, column, found);
  all.over = within(column.over, along);
  return all;
}

// The sum of the moments times the distances, by the binomial theorem.
Sum shifted_back(StreamAttempt& attempt, const Column& column, const Shifted& found, const Centred& about) {
  const auto& [greatest, off, over] = about;
  Sum value;
  const auto moments = moments_for(attempt, column, greatest, found.piece, over, found.state.exponent);
  for (const auto& [degrees, moment] : moments) {
    auto term = distances(attempt.scratch, off, greatest.powers, degrees);
    if (!term) continue;
    term->coefficient *= choose(greatest.powers, degrees);
    const bool counted = is_zero(degrees) && counts(found.piece);
    if (!counted) *term = multiplied(*term, restored(attempt, found, greatest, degrees, moment));
    for (const auto wire : column.over)
      if (counted || !contains(over, wire)) term->factors = combined(term->factors, size_of(attempt, wire));
    value = add(value, {*term});
  }
  return value;
}

Sum about_centre(StreamAttempt& attempt, const Column& column, const Shifted& found) {
  const auto about = centred(attempt, column, found);
  const auto reference = reference_for(attempt, {found.piece}, about.over, found.state.exponent);
  if (!rounds_alike(attempt, column, {found.piece}, reference)) return {};
  Sum value = shifted_back(attempt, column, found, about);
  const bool even = std::ranges::all_of(about.greatest.powers, [](int power) { return power % 2 == 0; });
  if (value.size() > 1 && even && is_positive(attempt.algebra, found.piece))
    value = never_below_zero(attempt, column, value);
  if (reference) value = times(value, exponential_of(attempt, *reference));
  note_casts(attempt, found.piece);
  value = times(value, found.state);
  return guarded(attempt, column, value, value, found.guards, column.over);
}

// A body as terms without shifts and products of shifts; none if a shift cannot be centred.
struct Apart {
  Sum plain;
  std::vector<Shifted> shifts;
};

std::optional<Apart> shifts_apart(StreamAttempt& attempt, const Column& column, const Sum& body) {
  Apart all;
  bool fine = true;
  for (const auto& term : body) {
    const auto separated = separate(attempt.algebra, term);
    const auto* parts = std::get_if<SeparatedTerm>(&separated);
    if (parts && parts->shifts.empty()) {
      all.plain.push_back(term);
      continue;
    }
    auto found = shifted(attempt, term);
    fine = fine && found && can_centre(attempt, column, *found);
    if (fine) all.shifts.push_back(std::move(*found));
  }
  if (auto found = subtracted(attempt, column, all.plain)) all.shifts.push_back(std::move(*found));
  return fine ? std::optional(all) : std::nullopt;
}

}  // namespace

std::optional<Sum> about_centres(StreamAttempt& attempt, const Column& column) {
  attempt.algebra.keeps_shifts = true;
  const Sum body = normal(attempt.algebra, column.value);
  const auto apart = shifts_apart(attempt, column, body);
  attempt.algebra.keeps_shifts = false;
  if (!apart || apart->shifts.empty()) return {};
  auto value = apart->plain.empty() ? std::optional(Sum{}) : summed(attempt, column, apart->plain, false);
  if (!value) return {};
  show_written_out(attempt, column, body);
  for (const auto& shift : apart->shifts) *value = add(*value, about_centre(attempt, column, shift));
  attempt.found.rules.insert({Rule::moments, Rule::cascade});
  note_step(attempt, Rule::moments, column, body, *value, "relative to a carried centre, no large terms cancel");
  return value;
}

}  // namespace napkin
