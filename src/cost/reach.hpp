// Numbers of pieces, and arithmetic that remembers that it overflowed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace napkin {

struct Checked {
  std::int64_t value;
  bool overflow = false;
  void times(std::int64_t factor) { overflow = __builtin_mul_overflow(value, factor, &value) || overflow; }
  void plus(std::int64_t more) { overflow = __builtin_add_overflow(value, more, &value) || overflow; }
};

// Pieces of `extent` under nested sizes, of which `splits` names those that count, outermost first; ragged last pieces
// are cut on their own.
std::int64_t count_pieces(std::int64_t extent, std::span<const std::size_t> splits,
                          std::span<const std::int64_t> sizes);

}  // namespace napkin
