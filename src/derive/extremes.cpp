// max, min and prod over pieces and finished reductions: what does not depend on the piece is joined at the end. How
// an extreme is taken of what mixes the two stands in orders.cpp.
#include <fmt/format.h>

#include <cmath>

#include "derive/analysis.hpp"

namespace napkin {

void StateAnalysis::reduce_extreme(const Column& column) {
  algebra_.keep_sums(true);
  const Sum body = algebra_.normal(column.value);
  show_written_out(column, body);
  const bool exponential = body.size() == 1 && !body[0].exponent.empty();
  const bool whole = !algebra_.dependence(body).state && !exponential;
  const auto [now, later] = parted(column.over, waiting_below(algebra_.build(body)));
  Column inner = column;
  inner.over = now;
  const auto value = whole ? carried(column, algebra_original(column), now, {}, true) : extreme(inner, body);
  algebra_.keep_sums(false);
  if (value) finish(column, *value, later);
}

void StateAnalysis::reduce_product(const Column& column, const Sum& body) {
  if (!algebra_.dependence(body).state)
    return finish(column, carried(column, algebra_original(column), column.over, {}, true), {});
  if (body.size() != 1) return refuse_mixing(algebra_.build(body));
  show_written_out(column, body);
  auto separated = algebra_.separate(body[0]);
  if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(*mixing);
  auto& [piece, state, shift] = std::get<Algebra::Separated>(separated);
  const auto [now, later] = parted(column.over, free_of({state}));
  std::int64_t terms = 1;
  for (const auto wire : now) {
    if (!scratch_.size(wire))
      return refuse(fmt::format("multiplies by `{}` as often as `{}` is long, which is not known",
                                to_text(scratch_, algebra_.build(state)), scratch_.at(wire).name),
                    fmt::format("give `{}` a size", scratch_.at(wire).name));
    terms *= *scratch_.size(wire);
  }
  // A power and a product apart leave the range of f32 where together they need not.
  constexpr std::int64_t most_factors = 64;
  if (terms > most_factors)
    return refuse(fmt::format("multiplies by `{}` {} times, whose power alone may be too large to hold",
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

}  // namespace napkin
