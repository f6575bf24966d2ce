// max, min and prod over pieces and finished reductions: terms that do not depend on the piece are joined in finish.
// orders.cpp handles extremes of expressions that mix the two.
#include <fmt/format.h>

#include <cmath>

#include "derive/states/analysis.hpp"

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

// A factor of every term would leave the product as a power. That power alone leaves the range of f32 long before the
// whole product does, and so does the product of the other factors; so this is refused.
void StateAnalysis::reduce_product(const Column& column, const Sum& body) {
  if (!algebra_.dependence(body).state)
    return finish(column, carried(column, algebra_original(column), column.over, {}, true), {});
  if (body.size() != 1) return refuse_mixing(algebra_.build(body));
  auto separated = algebra_.separate(body[0]);
  if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(*mixing);
  const auto factor = to_text(scratch_, algebra_.build(std::get<Algebra::Separated>(separated).state));
  refuse(fmt::format("multiplies by `{}` at every position: a power of it, or the product of the other factors, can "
                     "overflow although the whole does not",
                     factor),
         fmt::format("compute what `{}` multiplies in a kernel of its own", factor));
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
