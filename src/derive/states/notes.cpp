// Writes down what the report shows of an attempt; see notes.hpp.
#include "derive/states/notes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "derive/streams/refusals.hpp"
#include "derive/trace.hpp"

namespace napkin {
namespace {

void note(StreamAttempt& attempt, std::string text) {
  auto& notes = attempt.found.notes;
  if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
}

ExprId fold_of(StreamAttempt& attempt, const Column& column, const Sum& body) {
  return attempt.scratch.intern(Reduce{column.fold, column.over, build(attempt.scratch, body)});
}

}  // namespace

Sum reduction(StreamAttempt& attempt, const Column& column, const Sum& body) {
  return as_factor(fold_of(attempt, column, body));
}

void note_step(StreamAttempt& attempt, Rule rule, const Column& column, const Sum& before, const Sum& after,
               std::string why) {
  const ExprId old = fold_of(attempt, column, before);
  note_step(attempt, rule, old, build(attempt.scratch, after), std::move(why));
}

void note_step(StreamAttempt& attempt, Rule rule, ExprId before, ExprId after, std::string why) {
  if (before != after) attempt.found.trace.push_back({rule, attempt.deriving->output, before, after, std::move(why)});
}

void show_written_out(StreamAttempt& attempt, const Column& column, const Sum& body) {
  if (!dependence(attempt.algebra, body).state) return;
  const ExprId now = fold_of(attempt, column, unguarded(body));
  note_step(attempt, Rule::composition, as_expression(attempt.scratch, column), now,
            "an expression that mixes pieces with an unfinished reduction is expanded");
}

void note_rules(StreamAttempt& attempt, const Sum& piece, const Term& state) {
  const auto& algebra = attempt.algebra;
  if (dependence(algebra, state).state)
    attempt.found.rules.insert({Rule::cascade, Rule::invariant});
  else if (!trivial(state))
    attempt.found.rules.insert(Rule::invariant);
  for (const auto& term : piece)
    if (dependence(algebra, term).piece) note_casts(attempt, term);
}

void note_casts(StreamAttempt& attempt, const Term& term) {
  if (term.cast || term.unrounded) attempt.found.rules.insert(Rule::cast);
  if (term.cast) note(attempt, fmt::format("rounds the piece to {}, not the finished value", row(*term.cast).name));
  if (term.unrounded)
    note(attempt, fmt::format("omits the cast to {0}: rounding each term to {0} could lose what the sum keeps",
                              row(*term.unrounded).name));
}

void refuse(StreamAttempt& attempt, const std::string& why, const std::string& mend) {
  auto& refused = attempt.found.refused;
  if (!refused) refused = refused_fold(attempt.scratch, *attempt.deriving, attempt.wire, why, mend);
}

void refuse_mixing(StreamAttempt& attempt, ExprId mixing) {
  auto& refused = attempt.found.refused;
  if (!refused)
    refused = refused_mixing(attempt.scratch, attempt.algebra, *attempt.deriving, attempt.wire, attempt.kinds, mixing);
}

}  // namespace napkin
