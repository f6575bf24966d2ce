// A sum of a product of many factors as one of two: which factors are multiplied before the sum.
#pragma once

#include <optional>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

struct TwoOperands {
  std::vector<ExprId> computed;  // multiplied in a column of their own
  ExprId read{};                 // an array
};
// The factors so that a matrix product is left: all but one array are scaled by what varies along fewer wires, as K is
// in the sum of K * V * exp(g). None where the factors are no such product.
std::optional<TwoOperands> two_operands(const Diagram&, const Column&, const std::vector<ExprId>& factors);

}  // namespace napkin
