// What an attempt says of its work: the steps of the trace, rules, notes and refusals.
#pragma once

#include <string>

#include "derive/states/attempt.hpp"

namespace napkin {

// The fold of a part of a column's body, for display.
Sum reduction(StreamAttempt&, const Column&, const Sum& body);
// `before` is shown as the fold that the column makes of it.
void note_step(StreamAttempt&, Rule, const Column&, const Sum& before, const Sum& after, std::string why);
void note_step(StreamAttempt&, Rule, ExprId before, ExprId after, std::string why);
void show_written_out(StreamAttempt&, const Column&, const Sum& body);

// The rules that move a finished factor `state` past the piece, and the casts of the piece.
void note_rules(StreamAttempt&, const Sum& piece, const Term& state);
void note_casts(StreamAttempt&, const Term&);

// The column being derived is refused for the first reason found.
void refuse(StreamAttempt&, const std::string& why, const std::string& mend = "");
void refuse_mixing(StreamAttempt&, ExprId mixing);

}  // namespace napkin
