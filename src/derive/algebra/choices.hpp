// Conditions inside expressions, and what the expressions are once a condition is decided.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "napkin/diagram.hpp"

namespace napkin {

// The expression where each of these conditions holds or fails: choices take one of their branches.
ExprId decided(Diagram&, ExprId, const std::map<ExprId, bool>& conditions);

// A condition that a choice below `e` asks, or a part of one, of which `wanted` is true; the widest there is. Only
// expressions of which `among` is true are looked into.
using Question = std::function<bool(ExprId)>;
std::optional<ExprId> condition_below(const Diagram&, ExprId e, const Question& among, const Question& wanted);

}  // namespace napkin
