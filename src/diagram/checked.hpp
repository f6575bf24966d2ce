// Arithmetic on sizes and positions that detects overflow.
#pragma once

#include <cstdint>
#include <optional>

namespace napkin {

inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}
inline std::optional<std::int64_t> checked_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}
inline std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}
// The result, or the greatest number if the result would be greater.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return checked_add(a, b).value_or(INT64_MAX); }
inline std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  return checked_multiply(a, b).value_or(INT64_MAX);
}
// The quotient rounded down; the divisor is positive.
inline std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

}  // namespace napkin
