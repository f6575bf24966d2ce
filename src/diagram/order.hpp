// Whether functions keep the order of numbers, and a positive factor: a table in addition to that of the functions.
#pragma once

#include "napkin/functions.hpp"

namespace napkin {

// How the result changes when one argument grows and the others are constant. A valley falls and then rises.
enum class Order : std::uint8_t { none, rising, falling, valley };

// Holds for all arguments, or only for arguments that are never negative if `of_positive`.
struct OrderRow {
  const Pointwise* function;
  Order order;
  bool of_positive = false;
  bool homogeneous = false;  // f(v * a, v * b) = v * f(a, b) for v that are never negative
};
OrderRow order_of(const Pointwise&);  // Order::none if the table has no row

bool is_conjunction(const Pointwise&);  // whether it is the conjunction of two conditions

// min for max, and max for min; none for other reductions.
const Reduction* opposite(const Reduction&);

}  // namespace napkin
