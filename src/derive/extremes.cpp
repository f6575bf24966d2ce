// max, min and prod over pieces and finished reductions: what does not depend on the piece is joined at the end.
#include <fmt/format.h>

#include <cmath>

#include "derive/analysis.hpp"

namespace napkin {

void StateAnalysis::reduce_extreme(const Column& column, const Sum& body) {
  show_written_out(column, body);
  if (body.size() == 1 && (!body[0].exponent.empty() || algebra_.dependence(body[0]).mixed()))
    return reduce_scaled(column, body[0]);
  Sum piece, state;
  for (const auto& term : body) {
    const auto depends = algebra_.dependence(term);
    if (depends.mixed()) return refuse_mixing(column, algebra_.build(term));
    (depends.state ? state : piece).push_back(term);
  }
  if (!state.empty()) {
    found_.rules.insert({Rule::cascade, Rule::invariant});
    step(Rule::cascade, column, body, add(reduction(column, piece), state),
         "what does not vary with the piece moves every term alike");
  }
  const auto [now, later] = parted(column.over, free_of(state));
  if (!state.empty())
    for (const auto& term : piece) note_casts(term);
  const Sum body_now = state.empty() ? algebra_original(column) : piece;
  finish(column, add(carried(column, body_now, now, {}, state.empty()), state), later);
}

void StateAnalysis::reduce_product(const Column& column, const Sum& body) {
  if (!algebra_.dependence(body).state)
    return finish(column, carried(column, algebra_original(column), column.over, {}, true), {});
  if (body.size() != 1) return refuse_mixing(column, algebra_.build(body));
  show_written_out(column, body);
  auto separated = algebra_.separate(body[0]);
  if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(column, *mixing);
  auto& [piece, state, shift] = std::get<Algebra::Separated>(separated);
  const auto [now, later] = parted(column.over, free_of({state}));
  std::int64_t terms = 1;
  for (const auto wire : now) {
    if (!scratch_.size(wire))
      return refuse(column,
                    fmt::format("multiplies by `{}` as often as `{}` is long, which is not known",
                                to_text(scratch_, algebra_.build(state)), scratch_.at(wire).name),
                    fmt::format("give `{}` a size", scratch_.at(wire).name));
    terms *= *scratch_.size(wire);
  }
  // A power and a product apart leave the range of f32 where together they need not.
  constexpr std::int64_t most_factors = 64;
  if (terms > most_factors)
    return refuse(column,
                  fmt::format("multiplies by `{}` {} times, whose power alone may be too large to hold",
                              to_text(scratch_, algebra_.build(state)), terms),
                  "divide by it before");
  found_.rules.insert({Rule::cascade, Rule::invariant});
  note_casts(piece);
  const Sum often = {raised(state, static_cast<double>(terms))};
  step(Rule::cascade, column, body, times(reduction(column, {piece}), often[0]),
       "what does not vary with the piece is a factor of every term");
  finish(column, times(carried(column, {piece}, now, {}, false), often[0]), later);
}

Term StateAnalysis::raised(Term term, double power) {
  term.coefficient = std::pow(term.coefficient, power);
  for (auto& factor : term.factors) factor.second *= power;
  term.exponent = scale(term.exponent, power);
  return term;
}

std::pair<std::vector<WireId>, std::vector<WireId>> StateAnalysis::parted(const std::vector<WireId>& over,
                                                                          const std::set<WireId>& waiting) {
  std::pair<std::vector<WireId>, std::vector<WireId>> all;
  for (const auto wire : over) (waiting.contains(wire) ? all.second : all.first).push_back(wire);
  return all;
}

void StateAnalysis::finish(const Column& column, const Sum& value, const std::vector<WireId>& later) {
  found_.finished[column.output] = later.empty() ? value : fold_later(column, value, later);
}

Sum StateAnalysis::algebra_original(const Column& column) {
  Term term;
  term.factors = {{column.value, 1}};
  const Sum normal = algebra_.normal(column.value);
  return algebra_.dependence(column.value).state ? normal : Sum{term};
}

void StateAnalysis::reduce_scaled(const Column& column, const Term& term) {
  auto separated = algebra_.separate(term);
  if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(column, *mixing);
  auto& [piece, state, shift] = std::get<Algebra::Separated>(separated);
  if (state.coefficient < 0) piece.coefficient = -1, state.coefficient *= -1;
  if (!algebra_.positive(state))
    return refuse(column,
                  fmt::format("scales by `{}`, which may be negative", to_text(scratch_, algebra_.build(state))),
                  "where it never is, write `abs` around it");
  note_rules({piece}, state);
  step(Rule::cascade, column, {term}, times(reduction(column, {piece}), state),
       "a factor that is never negative keeps the order");
  const auto [now, later] = parted(column.over, free_of({state}));
  if (piece.exponent.empty() || !piece.factors.empty() || piece.cast || piece.coefficient != 1) {
    const auto reference = referenced(column, {piece}, now, !state.exponent.empty());
    return finish(column, times(carried(column, {piece}, now, reference, false), state), later);
  }
  // The exponential grows with its exponent: the extreme of one is that of the other.
  state.exponent = add(state.exponent, carried(column, piece.exponent, now, {}, false));
  finish(column, {state}, later);
}

}  // namespace napkin
