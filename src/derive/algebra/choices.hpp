// Conditions inside expressions, and the expressions that are left once a condition is decided.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "napkin/diagram.hpp"

namespace napkin {

// The expression under the assumption that each of these conditions holds or fails: choices become one of their
// branches.
ExprId decided(Diagram&, ExprId, const std::map<ExprId, bool>& conditions);

// The widest condition, or part of a condition, of a choice below `e` for which `wanted` is true. Only expressions for
// which `among` is true are searched.
using Question = std::function<bool(ExprId)>;
std::optional<ExprId> condition_below(const Diagram&, ExprId e, const Question& among, const Question& wanted);

}  // namespace napkin
