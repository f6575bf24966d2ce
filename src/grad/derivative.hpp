// The derivatives of pointwise functions, from their column in the table of functions.
#pragma once

#include <optional>

#include "napkin/diagram.hpp"

namespace napkin::grad {

// Of a call, with respect to its i-th argument; none where the table has none.
std::optional<ExprId> derivative(Diagram&, const Apply&, std::size_t i);

}  // namespace napkin::grad
