// Conditions on positions: finding them in expressions, and printing them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "napkin/derive.hpp"

namespace napkin {

// A comparison of linear forms of positions, as a condition. Quotients become multiples: `x / 3 == q` is `x == 3 * q`.
std::optional<Condition> condition(const Diagram&, ExprId comparison);

// Prints a condition as a comparison, `x <= q`, without minus signs if they can be avoided. The caller names wires (on
// the left or the right side) and sizes of axes.
struct ConditionWords {
  std::function<std::string(WireId, bool left)> wire;
  std::function<std::string(AxisId)> size;
};
std::string to_text(const Condition&, std::string_view sign, const ConditionWords&);
// The comparison sign of the condition, such as `<=`.
std::string_view sign(const Condition&);

}  // namespace napkin
