// The greatest or smallest value of an expression that may mix pieces and finished reductions.
#pragma once

#include <optional>

#include "derive/states/attempt.hpp"

namespace napkin {

void reduce_extreme(StreamAttempt&, const Column&);

// A maximum or minimum to be found. No finished reduction varies along the wires that the column folds; its fold may be
// the opposite of the one in the file.
struct Extreme {
  Column column;
  std::optional<ExprId> where{};  // inside choices: the condition on the positions that count
};
Extreme opposite_of(const Extreme&);
// The value in finish of an extreme of the body; none, and a refusal, if there is none.
std::optional<Sum> extreme(StreamAttempt&, const Extreme&, const Sum& body);
// The fold of the piece itself. Within a choice it covers only the positions that the choice takes.
Sum extreme_of_piece(StreamAttempt&, const Extreme&, const Sum& piece);
// Whether the expression has one value for all positions that the column folds.
bool settled(const StreamAttempt&, const Extreme&, ExprId);

}  // namespace napkin
