// Masks: which pieces of a loop change nothing, and what a column computes if its mask is true everywhere.
#pragma once

#include <optional>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

// Fills Loop::needs of every loop of a program (rule S7 of docs/theory.md).
void find_needs(Program&);

// The value if all of its masks hold at every position, and the conditions that must hold for that. None without such
// masks.
struct Unmasked {
  std::vector<Condition> conditions;
  ExprId value;
};
std::optional<Unmasked> unmasked(Diagram&, ExprId value);

}  // namespace napkin
