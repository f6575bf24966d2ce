// splitmix64: the standard's distributions differ between libraries.
#pragma once

#include <cstdint>

namespace napkin {

inline std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}
// A number in [0, 1).
inline double unit_of(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1p-53; }

class Random {
 public:
  explicit Random(std::uint64_t from) : state_(from) {}
  double unit() { return unit_of(mixed(state_ += 0x9E3779B97F4A7C15ULL)); }

 private:
  std::uint64_t state_;
};

}  // namespace napkin
