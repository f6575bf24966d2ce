// Conditions on positions: found in expressions, and in words.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "napkin/derive.hpp"

namespace napkin {

// A comparison of linear forms of positions as a condition. Quotients become multiples: `x / 3 == q` is `x == 3 * q`.
std::optional<Condition> condition(const Diagram&, ExprId comparison);

// A condition as a comparison without minus signs where there need be none, in words of the caller's for a wire (that
// stands on the left or the right) and for the size of an axis: `x <= q`.
struct ConditionWords {
  std::function<std::string(WireId, bool left)> wire;
  std::function<std::string(AxisId)> size;
};
std::string to_text(const Condition&, std::string_view sign, const ConditionWords&);
// `<=`, as the condition compares.
std::string_view sign(const Condition&);

}  // namespace napkin
