// Turns sums of products of shifts into moments about centres that are carried; see moments.hpp.
#include <algorithm>
#include <cmath>

#include "derive/states/analysis.hpp"

namespace napkin {

// Clamps a value that only rounding can make negative.
Sum StateAnalysis::never_below_zero(const Column& column, const Sum& value) {
  const ExprId whole = algebra_.build(value), zero = scratch_.intern(Constant{0});
  const ExprId clamped = algebra_.apply("where", {algebra_.apply("<", {whole, zero}), zero, whole});
  const auto wires = free_of(value);
  const auto array = finished_array(column, {wires.begin(), wires.end()}, clamped);
  positive_.insert(array);
  return {read_term(array)};
}

ArrayId StateAnalysis::finished_array(const Column& column, const std::vector<WireId>& wires, ExprId value) {
  const auto array = new_array(scratch_, std::string(column.fold->state_name),
                               accumulator(scratch_, type(column), value), wires, scratch_.at(column.output).span);
  found_.late_folds[deriving_->output].push_back({array, value, nullptr, {}, {}, {}});
  is_state(array);
  return array;
}

Term StateAnalysis::read_term(ArrayId array) {
  Term term;
  term.factors = {{read_whole(scratch_, array), 1}};
  return term;
}

Term StateAnalysis::exponential_of(const Reference& reference) {
  Term maximum = read_term(found_.all[reference.state].array), term;
  maximum.coefficient = reference.ratio;
  term.exponent = {maximum};
  return term;
}

// ---- centres ----

std::size_t StateAnalysis::centre_for(const Column& column, const Shifted& found, const Shifted::Part& part) {
  const Term& piece = found.piece;
  auto extremes = logarithms_in(column, found, part);
  if (extremes.empty()) extremes = extremes_in(part.offset);
  const Term own = never_negative(piece);
  if (!extremes.empty() && !subtracts_mean(part, {}) && !subtracts_mean(part, own)) {
    Centre centre{part.body};
    centre.extremes = std::move(extremes);
    found_.centres.push_back(std::move(centre));
    return found_.centres.size() - 1;
  }
  const Averaged moment{part.body, weight_of(piece), weight_for(piece, part)};
  for (const auto& each : {moment, Averaged{moment.body, moment.mean, moment.mean}}) {
    const auto same = [&](const Averaged& known) { return napkin::equal(known, each); };
    if (std::ranges::none_of(learnt_.centred, same) && std::ranges::none_of(found_.learnt, same))
      found_.learnt.push_back(each);
  }
  return mean_for(column, moment, found.state.exponent);
}

std::size_t StateAnalysis::mean_for(const Column& column, const Averaged& of, const Sum& waiting) {
  auto along = free_of(of.body);
  along.merge(free_of({of.mean}));
  const auto over = within(column.over, along);
  for (std::size_t i = 0; i < found_.centres.size(); ++i) {
    const auto& centre = found_.centres[i];
    const bool alike = centre.mean && centre.over == over && napkin::equal(centre.weight, of.mean);
    if (alike && napkin::equal(centre.body, of.body)) return i;
  }
  Centre centre{of.body, of.mean, over};
  centre.total = state_of(moment_for(column, {}, of.mean, over, waiting, false));
  std::vector<WireId> kept;
  for (const auto wire : free_of(times(of.body, of.mean)))
    if (std::ranges::find(over, wire) == over.end()) kept.push_back(wire);
  centre.mean = new_array(scratch_, "mean", count_type(), std::move(kept));
  is_state(*centre.mean);
  found_.centres.push_back(std::move(centre));
  return found_.centres.size() - 1;
}

std::size_t StateAnalysis::state_of(ArrayId array) const {
  const auto found = std::ranges::find(found_.all, array, &State::array);
  return static_cast<std::size_t>(found - found_.all.begin());
}

Term StateAnalysis::weight_of(Term piece) {
  if (piece.rounded.empty() && piece.exponent.empty()) piece.cast.reset();
  return piece;
}

Term StateAnalysis::weight_for(const Term& piece, const Shifted::Part& part) {
  for (const auto& known : learnt_.centred)
    if (napkin::equal(known.body, part.body) && napkin::equal(known.weight, weight_of(piece))) return known.mean;
  return subtracts_mean(part, {}) ? Term{} : never_negative(piece);
}

Term StateAnalysis::never_negative(const Term& piece) {
  Term own;
  own.exponent = piece.exponent;
  const ExprId one = scratch_.intern(Constant{1}), zero = scratch_.intern(Constant{0});
  for (const auto& factor : combined(piece.factors, piece.rounded)) {
    Term alone;
    alone.factors = {factor};
    if (algebra_.positive(alone)) {
      own.factors = combined(own.factors, {factor});
      continue;
    }
    for (const auto condition : conditions_of(scratch_, alone))
      own.factors = combined(own.factors, {{algebra_.apply("where", {condition, one, zero}), 1}});
  }
  return own;
}

bool StateAnalysis::subtracts_mean(const Shifted::Part& part, const Term& weight) {
  const Sum sum = spread(times(part.body, weight));
  for (const auto& term : part.offset)
    for (const auto& [base, power] : term.factors)
      for (const auto& state : found_.all)
        if (state.reduction->combine->role == Role::add && base == read_whole(scratch_, state.array) &&
            ratio(spread(state.body), sum))
          return true;
  return false;
}

std::optional<double> StateAnalysis::ratio(const Sum& a, const Sum& b) {
  if (const auto positive = positive_ratio(a, b)) return positive;
  if (const auto negative = positive_ratio(scale(a, -1), b)) return -*negative;
  return {};
}

std::vector<Centre::Extreme> StateAnalysis::extremes_in(const Sum& offset) {
  std::vector<Centre::Extreme> all;
  for (const auto& term : offset)
    for (std::size_t i = 0; i < found_.all.size(); ++i) {
      const auto& state = found_.all[i];
      const bool extreme = std::isinf(state.reduction->identity) && !state.moment;
      Term read = read_term(state.array);
      read.coefficient = term.coefficient;
      if (!extreme || !napkin::equal(term, read)) continue;
      Centre::Extreme found{-term.coefficient, i, {}, {}};
      for (const auto& one : written_out(state.body))
        (algebra_.dependence(one).piece ? found.of : found.apart).push_back(one);
      all.push_back(std::move(found));
    }
  return all;
}

Sum StateAnalysis::off_centre(std::size_t index, const Shifted::Part& part) {
  const Sum off = off_without_factor(index, part);
  if (!part.scaled()) return off;
  Sum all = part.beyond;
  if (off.size() == 1) all = add(all, times(off, part.factor));
  if (off.size() > 1) all = add(all, times(as_factor(algebra_.build(off)), part.factor));
  return all.empty() ? all : as_factor(algebra_.build(all));
}

Sum StateAnalysis::off_without_factor(std::size_t index, const Shifted::Part& part) {
  const auto& centre = found_.centres[index];
  Sum at;
  if (!centre.extremes.empty() && centre.extremes[0].argument) return off_logarithms(centre, part.offset);
  for (const auto& [factor, state, of, apart, argument] : centre.extremes)
    at = add(at, scale(add({read_term(found_.all[state].array)}, scale(apart, -1)), factor));
  if (!centre.mean) return add(at, part.offset);
  for (const auto& made : made_) {
    if (made.centre != index) continue;
    Term mean = read_term(made.sum), beyond = read_term(made.first);
    for (auto* term : {&mean, &beyond})
      for (const auto& [base, power] : made.total) term->factors = combined(term->factors, {{base, -power}});
    const Sum off = add({mean}, part.offset);
    const auto reads = arrays_read(scratch_, algebra_.build(off));
    if (std::ranges::find(reads, made.sum) == reads.end()) return add(off, scale({beyond}, -1));
  }
  return add({read_term(*centre.mean)}, part.offset);
}

// ---- moments ----

std::map<Powers, ArrayId> StateAnalysis::moments_for(const Column& column, const Moment& greatest, const Term& piece,
                                                     const std::vector<WireId>& over, const Sum& waiting) {
  std::map<Powers, ArrayId> all;
  for (const auto& powers : powers_up_to(greatest.powers)) {
    Moment moment{greatest.centres, powers, greatest.rounded && !is_zero(powers), {}, {}};
    // Moments of degree one are as large as the plain sum and need no scale.
    if (moment.degree() > 1) moment.scales = greatest.scales;
    for (const auto& [lower, array] : all) {
      bool below = true;
      for (std::size_t i = 0; i < powers.size(); ++i) below = below && lower[i] <= powers[i];
      if (below) moment.lower.emplace(lower, array);
    }
    all.emplace(powers, moment_for(column, moment, piece, over, waiting, powers == greatest.powers));
  }
  return all;
}

ArrayId StateAnalysis::moment_for(const Column& column, const Moment& of, const Term& piece,
                                  const std::vector<WireId>& over, const Sum& waiting, bool named) {
  const auto moment = without_zeros(of);
  const auto body = moment.powers.empty() ? weight_of(piece) : piece;
  const auto reference = reference_for({body}, over, waiting);
  const auto alike = [&](const State& s) {
    return s.reduction == column.fold && s.over == over && s.reference == reference && napkin::equal(s.body, {body}) &&
           (moment.powers.empty() ? !s.moment : s.moment && *s.moment == moment);
  };
  if (const auto found = std::ranges::find_if(found_.all, alike); found != found_.all.end()) return found->array;
  if (moment.powers.empty() && counts(body)) {
    const auto array = new_array(scratch_, "count", count_type(), {}, scratch_.at(column.output).span);
    return add_state(array, column, body, over, reference, {});
  }
  Sum varies = {body};
  for (const auto centre : moment.centres) varies = add(varies, found_.centres[centre].body);
  const auto array = state_array(column, varies, over, named);
  return add_state(array, column, body, over, reference, moment.powers.empty() ? std::nullopt : std::optional(moment));
}

ArrayId StateAnalysis::add_state(ArrayId array, const Column& column, const Term& body, const std::vector<WireId>& over,
                                 std::optional<Reference> reference, std::optional<Moment> moment) {
  is_state(array);
  const bool even = !moment || std::ranges::all_of(moment->powers, [](int p) { return p % 2 == 0; });
  if (even && algebra_.positive(body)) positive_.insert(array);
  found_.all.push_back({array, column.fold, over, {body}, reference, false, std::move(moment)});
  return array;
}

// ---- sums ----

std::optional<Sum> StateAnalysis::sum_about_centre(const Column& column, const Sum& piece,
                                                   const std::vector<WireId>& over, const Sum& waiting) {
  if (algebra_.dependence(piece).state) return {};
  for (const auto& known : learnt_.centred) {
    const Sum averaged = spread(algebra_.with_exponentials_as_factors(times(known.body, known.weight)));
    const auto factor = ratio(averaged, spread(algebra_.with_exponentials_as_factors(piece)));
    if (!factor) continue;
    const auto reference = reference_for({known.weight}, over, waiting);
    if (!rounds_alike(column, piece, reference)) return {};
    const Made made = sum_for(column, known, over, waiting);
    Term rest;
    if (reference) rest = exponential_of(*reference);
    rest.coefficient = *factor;
    found_.rules.insert(Rule::moments);
    step(Rule::moments, column, piece, times(made.value, rest),
         "a sum is its running mean times the number of terms, plus the rounding error");
    return times({read_term(made.sum)}, rest);
  }
  return {};
}

const StateAnalysis::Made& StateAnalysis::sum_for(const Column& column, const Averaged& known,
                                                  const std::vector<WireId>& over, const Sum& waiting) {
  const auto centre = mean_for(column, known, waiting);
  const auto moments = moments_for(column, {{centre}, {1}, false, {}, {}}, known.weight, over, waiting);
  const auto first = moments.at({1}), total = moments.at({0});
  for (const auto& made : made_)
    if (made.centre == centre && made.first == first) return made;
  // Factors are read one after the other because they are ordered by their first read.
  const Term count = read_term(total);
  const Term mean = read_term(*found_.centres[centre].mean);
  const Sum value = add({napkin::multiplied(count, mean)}, {read_term(first)});
  const auto sum = finished_array(column, scratch_.at(first).wires, algebra_.build(value));
  Made made{centre, sum, first, value, {{read_whole(scratch_, total), 1}}};
  if (counts(known.weight)) {
    made.total.clear();
    for (const auto wire : over) made.total = combined(made.total, size_of(wire));
  }
  made_.push_back(std::move(made));
  return made_.back();
}

Sum StateAnalysis::spread(const Sum& sum) {
  const ExprId one = scratch_.intern(Constant{1}), zero = scratch_.intern(Constant{0});
  Sum all;
  for (const auto& term : sum) {
    const auto masked = std::ranges::find_if(term.factors, [&](const auto& factor) {
      Term alone;
      alone.factors = {factor};
      const auto* apply = std::get_if<Apply>(&scratch_.at(factor.first).node);
      return factor.second == 1 && !conditions_of(scratch_, alone).empty() && apply->arguments[1] != one;
    });
    if (masked == term.factors.end()) {
      all = add(all, {term});
      continue;
    }
    const auto arguments = std::get<Apply>(scratch_.at(masked->first).node).arguments;
    Term rest = term;
    rest.factors = combined(rest.factors, {{masked->first, -1}});
    rest.factors = combined(rest.factors, {{algebra_.apply("where", {arguments[0], one, zero}), 1}});
    all = add(all, spread(times(algebra_.normal(arguments[1]), rest)));
  }
  return all;
}

}  // namespace napkin
