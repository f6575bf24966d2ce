// Masks: which pieces of a loop change nothing, and what a column is where its mask lets everything through.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

// Fills Loop::needs of every loop of a program (rule S7 of docs/theory.md).
void find_needs(Program&);

// A comparison of linear forms of positions as a condition.
std::optional<Condition> condition(const Diagram&, ExprId comparison);

// The value where all of its masks hold at every position, and what must hold there. None without such masks.
struct Unmasked {
  std::vector<Condition> conditions;
  ExprId value;
};
std::optional<Unmasked> unmasked(Diagram&, ExprId value);

// A condition as a comparison without minus signs where there need be none, in words of the caller's for a wire (that
// stands on the left or the right) and for the size of an axis: `x <= q`.
struct ConditionWords {
  std::function<std::string(WireId, bool left)> wire;
  std::function<std::string(AxisId)> size;
};
std::string to_text(const Condition&, std::string_view sign, const ConditionWords&);

}  // namespace napkin
