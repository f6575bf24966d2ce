// Derives column by column what is carried, and separates choices that depend on finished reductions only: both
// branches are reduced, and finish chooses between them; see states.hpp.
#include "derive/states/states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "derive/algebra/choices.hpp"
#include "derive/states/attempt.hpp"
#include "derive/states/carried.hpp"
#include "derive/states/extremes.hpp"
#include "derive/states/notes.hpp"
#include "derive/states/sums.hpp"
#include "derive/streams/refusals.hpp"
#include "diagram/contains.hpp"

namespace napkin {
namespace {

void reduce(StreamAttempt&, const Column&);

// ---- choices ----

// The body that the column reduces, with sums unchanged and mixed columns written out.
ExprId written_body(Algebra& algebra, const Column& column) {
  algebra.keeps_sums = true;
  const ExprId body = build(algebra.diagram, normal(algebra, column.value));
  algebra.keeps_sums = false;
  return body;
}

// The condition of a choice that finished reductions alone decide.
std::optional<ExprId> late_condition(const StreamAttempt& attempt, ExprId body) {
  const auto mixes = [&](ExprId e) { return dependence(attempt.algebra, e).mixed(); };
  const auto late = [&](ExprId e) {
    const auto depends = dependence(attempt.algebra, e);
    return depends.state && !depends.piece;
  };
  return condition_below(attempt.scratch, body, mixes, late);
}

// The value at finish of the fold of one branch.
ExprId branch(StreamAttempt& attempt, const Column& column, ExprId body, const std::vector<WireId>& over) {
  const Array output = attempt.scratch.at(column.output);
  auto wires = output.wires;
  for (const auto wire : column.over)
    if (!contains(over, wire)) wires.push_back(wire);
  Column part = column;
  part.output = new_array(attempt.scratch, output.name, output.type, std::move(wires), output.span);
  part.value = body;
  part.over = over;
  reduce(attempt, part);
  auto& found = attempt.found;
  const Sum value = found.refused ? Sum{} : std::exchange(found.finished[part.output], {});
  found.finished.erase(part.output);
  return build(attempt.scratch, value);
}

// where(c, fold of a, fold of b). Wires along which the condition varies are folded after the choice.
void reduce_branches(StreamAttempt& attempt, const Column& column, ExprId body, ExprId condition) {
  const auto [now, later] = parted(column.over, wires_below(attempt.scratch, condition));
  std::vector<ExprId> values;
  for (const bool holds : {true, false}) {
    values.push_back(branch(attempt, column, decided(attempt.scratch, body, {{condition, holds}}), now));
    if (attempt.found.refused) return;
  }
  const Sum chosen = as_factor(applied(attempt.scratch, "where", {condition, values[0], values[1]}));
  attempt.found.rules.insert({Rule::cascade, Rule::finish});
  finish(attempt, column, chosen, later);
}

// ---- columns ----

// A factor of every term would leave the product as a power. That power alone leaves the range of f32 long before the
// whole product does, and so does the product of the other factors; so this is refused.
void reduce_product(StreamAttempt& attempt, const Column& column, const Sum& body) {
  auto& algebra = attempt.algebra;
  if (!dependence(algebra, body).state) {
    const Sum own = body_in_file(algebra, column, body);
    return finish(attempt, column, carried(attempt, column, own, column.over, {}, true), {});
  }
  if (body.size() != 1) return refuse_mixing(attempt, build(attempt.scratch, body));
  const auto separated = separate(algebra, body[0]);
  if (const auto* mixing = std::get_if<ExprId>(&separated)) return refuse_mixing(attempt, *mixing);
  const auto factor = to_text(attempt.scratch, build(attempt.scratch, std::get<SeparatedTerm>(separated).state));
  refuse(attempt,
         fmt::format("multiplies by `{}` at every position: a power of it, or the product of the other factors, can "
                     "overflow although the whole does not",
                     factor),
         fmt::format("compute what `{}` multiplies in a kernel of its own", factor));
}

void reduce(StreamAttempt& attempt, const Column& column) {
  auto& algebra = attempt.algebra;
  if (column.carried) return refuse(attempt, "is carried along another streamed axis already");
  if (dependence(algebra, column.value).state) {
    const ExprId body = written_body(algebra, column);
    if (const auto condition = late_condition(attempt, body)) return reduce_branches(attempt, column, body, *condition);
  }
  const auto role = column.fold->combine->role;
  const Sum body = normal(algebra, column.value);
  if (role == Role::add) return reduce_sum(attempt, column, body);
  role == Role::multiply ? reduce_product(attempt, column, body) : reduce_extreme(attempt, column);
}

void derive(StreamAttempt& attempt, std::size_t i) {
  const auto& column = attempt.columns[i];
  const auto kind = attempt.found.kinds[i];
  attempt.deriving = &column;
  if (kind == ColumnKind::reduction) reduce(attempt, column);
  // A column that is written in two steps, such as a rescaled moment, keeps both.
  const bool once = std::ranges::count(attempt.columns, column.output, &Column::output) == 1;
  if (kind == ColumnKind::finish && !column.fold && !column.carried && once)
    if (const auto sum = defined(attempt, column)) attempt.found.finished[column.output] = *sum;
}

Dependence depends(const Algebra& algebra, const Column& column) {
  const auto value = dependence(algebra, column.value);
  return column.repair ? value | dependence(algebra, *column.repair) : value;
}

// A value that needs a piece and a finished reduction at once is never stored: it must be neither an output nor read
// after the last piece.
void check_needed(StreamAttempt& attempt, const std::set<ArrayId>& needed) {
  const auto is_mixed = [&](ArrayId array) { return attempt.kinds.mixed(array); };
  for (std::size_t i = 0; i < attempt.columns.size() && !attempt.found.refused; ++i) {
    const auto& column = attempt.columns[i];
    const auto kind = attempt.found.kinds[i];
    if ((kind == ColumnKind::mixed && needed.contains(column.output)) ||
        (kind == ColumnKind::finish && std::ranges::any_of(arrays_read(attempt.scratch, column.value), is_mixed)))
      attempt.found.refused = refused_kept(attempt.scratch, column, attempt.wire, attempt.kinds);
  }
}

}  // namespace

States find_states(Diagram& scratch, const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed,
                   const Learnt& learnt) {
  StreamAttempt attempt{scratch, columns, wire, learnt};
  auto& found = attempt.found;
  for (const auto& column : columns)
    found.kinds.push_back(attempt.kinds.classify(column, depends(attempt.algebra, column)));
  for (std::size_t i = 0; i < columns.size() && !found.refused; ++i) derive(attempt, i);
  if (!found.refused) check_needed(attempt, needed);
  return std::move(found);
}

}  // namespace napkin
