// Turns a sum over many factors into one over two: which factors are multiplied before the sum.
#pragma once

#include <optional>
#include <vector>

#include "napkin/derive.hpp"

namespace napkin {

struct TwoOperands {
  std::vector<ExprId> computed;  // the factors that are multiplied in a separate column
  ExprId read{};                 // an array
};
// Splits the factors so that a matrix product is left: all but one array are multiplied before the sum, and they scale
// one array by factors that vary along fewer wires, as K * exp(g) in the sum of K * V * exp(g). None if the factors are
// no such product.
std::optional<TwoOperands> two_operands(const Diagram&, const Column&, const std::vector<ExprId>& factors);

}  // namespace napkin
