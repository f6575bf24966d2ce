// What functions do to the order of numbers, and to a positive factor: a table beside that of the functions.
#pragma once

#include "napkin/functions.hpp"

namespace napkin {

// Of each argument while the others stay: what a greater one makes of the result. A valley falls and then rises.
enum class Order : std::uint8_t { none, rising, falling, valley };

// For arguments that are never negative where `of_positive` says so, else for all.
struct OrderRow {
  const Pointwise* function;
  Order order;
  bool of_positive = false;
  bool homogeneous = false;  // f(v * a, v * b) = v * f(a, b) for v that are never negative
};
OrderRow order_of(const Pointwise&);  // Order::none where the table has no row

bool is_conjunction(const Pointwise&);  // both hold

// max of min, and min of max; none of other reductions.
const Reduction* opposite(const Reduction&);

}  // namespace napkin
