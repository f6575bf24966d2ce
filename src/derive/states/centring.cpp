// Turns sums of products of shifts into moments about centres that are carried; see centring.hpp.
#include "derive/states/centring.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "derive/states/carried.hpp"
#include "derive/states/logarithms.hpp"
#include "derive/states/notes.hpp"
#include "derive/states/rounding.hpp"
#include "diagram/contains.hpp"

namespace napkin {
namespace {

// ---- moments ----

Term weight_of(Term piece) {
  if (piece.rounded.empty() && piece.exponent.empty()) piece.cast.reset();
  return piece;
}

// `named`: it may have the name of the column.
ArrayId moment_array(StreamAttempt& attempt, const Column& column, const Term& body,
                     const std::optional<Moment>& moment, const std::vector<WireId>& over, bool named) {
  auto& scratch = attempt.scratch;
  if (!moment && counts(body))
    return new_array(scratch, "count", count_type(attempt), {}, scratch.at(column.output).span);
  Sum varies = {body};
  if (moment)
    for (const auto centre : moment->centres) varies = add(varies, attempt.found.centres[centre].body);
  return state_array(attempt, column, varies, over, named);
}

// The number of the state that holds the moment: of degree zero, it is the total of the weights.
std::size_t moment_for(StreamAttempt& attempt, const Column& column, const Moment& of, const Term& piece,
                       const std::vector<WireId>& over, const Sum& waiting, bool named) {
  const auto& states = attempt.found.all;
  const auto moment = is_zero(of.powers) ? std::nullopt : std::optional(without_zeros(of));
  const Term body = moment ? piece : weight_of(piece);
  const auto reference = reference_for(attempt, {body}, over, waiting);
  const auto alike = [&](const State& state) {
    return state.reduction == column.fold && state.over == over && state.reference == reference &&
           equal(state.body, {body}) && state.moment == moment;
  };
  const auto known = std::ranges::find_if(states, alike);
  if (known != states.end()) return static_cast<std::size_t>(known - states.begin());
  const auto array = moment_array(attempt, column, body, moment, over, named);
  const bool even = !moment || std::ranges::all_of(moment->powers, [](int power) { return power % 2 == 0; });
  if (even && is_positive(attempt.algebra, body)) attempt.positive.insert(array);
  return add_state(attempt, {array, column.fold, over, {body}, reference, false, moment});
}

// ---- running means ----

std::size_t mean_for(StreamAttempt& attempt, const Column& column, const Averaged& of, const Sum& waiting) {
  auto& centres = attempt.found.centres;
  auto along = free_of(attempt, of.body);
  along.merge(free_of(attempt, {of.mean}));
  const auto over = within(column.over, along);
  const auto alike = [&](const Centre& centre) {
    return centre.mean && centre.over == over && equal(centre.weight, of.mean) && equal(centre.body, of.body);
  };
  const auto known = std::ranges::find_if(centres, alike);
  if (known != centres.end()) return static_cast<std::size_t>(known - centres.begin());
  Centre centre{of.body, of.mean, over};
  centre.total = moment_for(attempt, column, {}, of.mean, over, waiting, false);
  std::vector<WireId> kept;
  for (const auto wire : free_of(attempt, times(of.body, of.mean)))
    if (!contains(over, wire)) kept.push_back(wire);
  centre.mean = new_array(attempt.scratch, "mean", count_type(attempt), std::move(kept));
  mark_state(attempt, *centre.mean);
  centres.push_back(std::move(centre));
  return centres.size() - 1;
}

// The factors of a piece that are never negative.
Term never_negative(StreamAttempt& attempt, const Term& piece) {
  auto& algebra = attempt.algebra;
  Term own;
  own.exponent = piece.exponent;
  const ExprId one = attempt.scratch.intern(Constant{1}), zero = attempt.scratch.intern(Constant{0});
  for (const auto& factor : combined(piece.factors, piece.rounded)) {
    Term alone;
    alone.factors = {factor};
    if (is_positive(algebra, alone)) {
      own.factors = combined(own.factors, {factor});
      continue;
    }
    for (const auto condition : conditions_of(attempt.scratch, alone))
      own.factors = combined(own.factors, {{applied(attempt.scratch, "where", {condition, one, zero}), 1}});
  }
  return own;
}

// Computes b / a, of either sign.
std::optional<double> ratio(const Sum& a, const Sum& b) {
  if (const auto positive = positive_ratio(a, b)) return positive;
  if (const auto negative = positive_ratio(scale(a, -1), b)) return -*negative;
  return {};
}

bool subtracts_mean(StreamAttempt& attempt, const Shifted::Part& part, const Term& weight) {
  auto& scratch = attempt.scratch;
  auto& algebra = attempt.algebra;
  const Sum sum = spread(algebra, times(part.body, weight));
  for (const auto& term : part.offset)
    for (const auto& [base, power] : term.factors)
      for (const auto& state : attempt.found.all)
        if (state.reduction->combine->role == Role::add && base == read_whole(scratch, state.array) &&
            ratio(spread(algebra, state.body), sum))
          return true;
  return false;
}

// The weights for the running mean of a shift's pieces.
Term weight_for(StreamAttempt& attempt, const Term& piece, const Shifted::Part& part) {
  for (const auto& known : attempt.learnt.centred)
    if (equal(known.body, part.body) && equal(known.weight, weight_of(piece))) return known.mean;
  return subtracts_mean(attempt, part, {}) ? Term{} : never_negative(attempt, piece);
}

// ---- distances ----

// The carried extremes that a sum of finished reductions subtracts, with their factors.
std::vector<Centre::Extreme> extremes_in(StreamAttempt& attempt, const Sum& offset) {
  auto& algebra = attempt.algebra;
  std::vector<Centre::Extreme> all;
  for (const auto& term : offset)
    for (std::size_t i = 0; i < attempt.found.all.size(); ++i) {
      const auto& state = attempt.found.all[i];
      const bool extreme = std::isinf(state.reduction->identity) && !state.moment;
      Term read = read_term(attempt.scratch, state.array);
      read.coefficient = term.coefficient;
      if (!extreme || !equal(term, read)) continue;
      Centre::Extreme found{-term.coefficient, i, {}, {}};
      for (const auto& one : written_out(algebra, state.body))
        (dependence(algebra, one).piece ? found.of : found.apart).push_back(one);
      all.push_back(std::move(found));
    }
  return all;
}

// The distance from a running mean. If a sum is computed from it, that sum divided by its total weight is more exact.
Sum off_mean(StreamAttempt& attempt, std::size_t index, const Sum& offset) {
  auto& scratch = attempt.scratch;
  for (const auto& made : attempt.mean_sums) {
    if (made.centre != index) continue;
    Term mean = read_term(scratch, made.sum), beyond = read_term(scratch, made.first);
    for (auto* term : {&mean, &beyond}) term->factors = combined(term->factors, powers(made.total, -1));
    const Sum off = add({mean}, offset);
    if (!contains(arrays_read(scratch, build(scratch, off)), made.sum)) return add(off, scale({beyond}, -1));
  }
  return add({read_term(scratch, *attempt.found.centres[index].mean)}, offset);
}

Sum off_without_factor(StreamAttempt& attempt, std::size_t index, const Sum& offset) {
  const auto& centre = attempt.found.centres[index];
  if (centre.mean) return off_mean(attempt, index, offset);
  if (!centre.extremes.empty() && centre.extremes[0].argument) return off_logarithms(attempt, centre, offset);
  Sum at;
  for (const auto& extreme : centre.extremes) {
    const Term read = read_term(attempt.scratch, attempt.found.all[extreme.state].array);
    at = add(at, scale(add({read}, scale(extreme.apart, -1)), extreme.factor));
  }
  return add(at, offset);
}

// ---- sums ----

MeanSum sum_for(StreamAttempt& attempt, const Column& column, const Averaged& known, const std::vector<WireId>& over,
                const Sum& waiting) {
  auto& scratch = attempt.scratch;
  const auto centre = mean_for(attempt, column, known, waiting);
  const auto moments = moments_for(attempt, column, {{centre}, {1}, false, {}, {}}, known.weight, over, waiting);
  const auto first = moments.at({1}), total = moments.at({0});
  for (const auto& made : attempt.mean_sums)
    if (made.centre == centre && made.first == first) return made;
  // Factors are read one after the other because they are ordered by their first read.
  const Term count = read_term(scratch, total);
  const Term mean = read_term(scratch, *attempt.found.centres[centre].mean);
  const Sum value = add({multiplied(count, mean)}, {read_term(scratch, first)});
  const auto sum = finished_array(attempt, column, scratch.at(first).wires, build(scratch, value));
  MeanSum made{centre, sum, first, value, count.factors};
  if (counts(known.weight)) {
    made.total.clear();
    for (const auto wire : over) made.total = combined(made.total, size_of(attempt, wire));
  }
  attempt.mean_sums.push_back(made);
  return made;
}

}  // namespace

bool counts(const Term& piece) { return trivial(piece) && piece.rounded.empty(); }

std::size_t centre_for(StreamAttempt& attempt, const Column& column, const Shifted& found, const Shifted::Part& part) {
  auto& centres = attempt.found.centres;
  auto& learnt = attempt.found.learnt;
  const Term& piece = found.piece;
  auto extremes = logarithms_in(attempt, column, found, part);
  if (extremes.empty()) extremes = extremes_in(attempt, part.offset);
  const Term own = never_negative(attempt, piece);
  if (!extremes.empty() && !subtracts_mean(attempt, part, {}) && !subtracts_mean(attempt, part, own)) {
    Centre centre{part.body};
    centre.extremes = std::move(extremes);
    centres.push_back(std::move(centre));
    return centres.size() - 1;
  }
  const Averaged moment{part.body, weight_of(piece), weight_for(attempt, piece, part)};
  for (const auto& each : {moment, Averaged{moment.body, moment.mean, moment.mean}}) {
    const auto same = [&](const Averaged& known) { return equal(known, each); };
    if (std::ranges::none_of(attempt.learnt.centred, same) && std::ranges::none_of(learnt, same))
      learnt.push_back(each);
  }
  return mean_for(attempt, column, moment, found.state.exponent);
}

Sum off_centre(StreamAttempt& attempt, std::size_t centre, const Shifted::Part& part) {
  const Sum off = off_without_factor(attempt, centre, part.offset);
  if (!part.scaled()) return off;
  Sum all = part.beyond;
  if (off.size() == 1) all = add(all, times(off, part.factor));
  if (off.size() > 1) all = add(all, times(as_factor(build(attempt.scratch, off)), part.factor));
  return all.empty() ? all : as_factor(build(attempt.scratch, all));
}

std::map<Powers, ArrayId> moments_for(StreamAttempt& attempt, const Column& column, const Moment& greatest,
                                      const Term& piece, const std::vector<WireId>& over, const Sum& waiting) {
  std::map<Powers, ArrayId> all;
  for (const auto& powers : powers_up_to(greatest.powers)) {
    Moment moment{greatest.centres, powers, greatest.rounded && !is_zero(powers), {}, {}};
    // Moments of degree one are as large as the plain sum and need no scale.
    if (moment.degree() > 1) moment.scales = greatest.scales;
    for (const auto& [lower, array] : all)
      if (std::ranges::equal(lower, powers, std::ranges::less_equal())) moment.lower.emplace(lower, array);
    const auto state = moment_for(attempt, column, moment, piece, over, waiting, powers == greatest.powers);
    all.emplace(powers, attempt.found.all[state].array);
  }
  return all;
}

std::optional<Sum> sum_about_centre(StreamAttempt& attempt, const Column& column, const Sum& piece,
                                    const std::vector<WireId>& over, const Sum& waiting) {
  auto& algebra = attempt.algebra;
  if (dependence(algebra, piece).state) return {};
  const auto spread_out = [&](const Sum& sum) { return spread(algebra, with_exponentials_as_factors(algebra, sum)); };
  for (const auto& known : attempt.learnt.centred) {
    const Sum averaged = spread_out(times(known.body, known.weight));
    const auto factor = ratio(averaged, spread_out(piece));
    if (!factor) continue;
    const auto reference = reference_for(attempt, {known.weight}, over, waiting);
    if (!rounds_alike(attempt, column, piece, reference)) return {};
    const auto made = sum_for(attempt, column, known, over, waiting);
    Term rest;
    if (reference) rest = exponential_of(attempt, *reference);
    rest.coefficient = *factor;
    attempt.found.rules.insert(Rule::moments);
    note_step(attempt, Rule::moments, column, piece, times(made.value, rest),
              "a sum is its running mean times the number of terms, plus the rounding error");
    return times({read_term(attempt.scratch, made.sum)}, rest);
  }
  return {};
}

}  // namespace napkin
