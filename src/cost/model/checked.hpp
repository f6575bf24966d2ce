// Arithmetic that records overflow.
#pragma once

#include <cstdint>

namespace napkin {

struct Checked {
  std::int64_t value;
  bool overflow = false;
  void times(std::int64_t factor) { overflow = __builtin_mul_overflow(value, factor, &value) || overflow; }
  void plus(std::int64_t more) { overflow = __builtin_add_overflow(value, more, &value) || overflow; }
};

}  // namespace napkin
