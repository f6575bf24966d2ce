// The text of the header that emitted C++ includes; it is the same for all diagrams.
#include "emit/cpp/numbers.hpp"

namespace napkin {

const std::string_view cpp_numbers =
    R"(// Number formats of 8 and 16 bits, buffers, and functions without branches, so that loops over them become vector
// instructions. Printed by napkin for its C++ kernels.
#ifndef NAPKIN_NUMBERS_HPP
#define NAPKIN_NUMBERS_HPP

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"  // of loops too short for vectors
#endif

// A format with a sign, an exponent and a fraction: `greatest` is the code of its greatest number, `beyond` what larger
// ones become, `no_number` a NaN.
template <class Stored, int exponent, int fraction, std::uint32_t greatest, std::uint32_t beyond,
          std::uint32_t no_number>
struct napkin_small {
  Stored bits;

  static constexpr int shift = 23 - fraction, bias = (1 << (exponent - 1)) - 1;
  static constexpr std::uint32_t sign = 1u << (exponent + fraction);
  static constexpr bool has_infinity = exponent != 4;  // else all codes above the greatest are NaN

  // 2^power of a normal float.
  static constexpr float two_to(int power) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(power + 127) << 23);
  }

  // To the nearest, ties to even.
  static std::uint32_t encode(float number) {
    const std::uint32_t all = std::bit_cast<std::uint32_t>(number), size = all & 0x7fffffffu;
    const std::uint32_t normal = ((size + (1u << (shift - 1)) - 1 + (size >> shift & 1u)) >> shift) -
                                 (static_cast<std::uint32_t>(127 - bias) << fraction);
    constexpr float least = two_to(24 - bias - fraction);  // its last bit is a subnormal number's
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + least) - std::bit_cast<std::uint32_t>(least);
    std::uint32_t code = size < std::bit_cast<std::uint32_t>(two_to(1 - bias)) ? subnormal : normal;
    code = code > greatest ? beyond : code;
    code = size > 0x7f800000u ? no_number : code;
    return code | (all >> 31 ? sign : 0u);
  }
  static float decode(std::uint32_t code) {
    const std::uint32_t size = code & (sign - 1);
    std::uint32_t number = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size << shift) * two_to(127 - bias));
    const std::uint32_t special = has_infinity ? size << shift | 0x7f800000u : 0x7fc00000u;
    number = size > greatest ? special : number;
    return std::bit_cast<float>(number | (code & sign ? 0x80000000u : 0u));
  }

  static napkin_small of(float number) { return {static_cast<Stored>(encode(number))}; }
  static float round(float number) { return decode(encode(number)); }
};
using napkin_f16 = napkin_small<std::uint16_t, 5, 10, 0x7bff, 0x7c00, 0x7e00>;
using napkin_bf16 = napkin_small<std::uint16_t, 8, 7, 0x7f7f, 0x7f80, 0x7fc0>;
using napkin_f8e4m3 = napkin_small<std::uint8_t, 4, 3, 0x7e, 0x7e, 0x7f>;  // saturates
using napkin_f8e5m2 = napkin_small<std::uint8_t, 5, 2, 0x7b, 0x7b, 0x7f>;  // saturates

template <class Small>
inline float napkin_float(Small number) {
  return Small::decode(number.bits);
}

// Zeros, aligned to a cache line; T may be an array.
template <class T>
class napkin_space {
 public:
  explicit napkin_space(std::size_t count)
      : data_(static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(64)))) {
    std::memset(static_cast<void*>(data_), 0, count * sizeof(T));
  }
  napkin_space(const napkin_space&) = delete;
  napkin_space& operator=(const napkin_space&) = delete;
  ~napkin_space() { ::operator delete(data_, std::align_val_t(64)); }
  T& operator[](int i) const { return data_[i]; }

 private:
  T* data_;
};

// The other one where one is no number.
template <class T, class U>
inline auto napkin_max(T a, U b) -> std::common_type_t<T, U> {
  return b > a || a != a ? b : a;
}
template <class T, class U>
inline auto napkin_min(T a, U b) -> std::common_type_t<T, U> {
  return b < a || a != a ? b : a;
}

inline double napkin_exp(double a) { return std::exp(a); }

// 2^n * e^r with |r| <= ln(2) / 2 and a polynomial (Cephes) for e^r: two units in the last place.
inline float napkin_exp(float a) {
  const float upper = a < 89.0f ? a : a != a ? a : 89.0f;
  const float bounded = upper > -104.0f ? upper : a != a ? a : -104.0f;
  const float shifted = bounded * 1.44269504f + 12582912.0f;  // n in the lowest bits
  const float n = shifted - 12582912.0f;
  const float r = bounded - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const std::int32_t power = std::bit_cast<std::int32_t>(shifted) - 0x4b400000, half = power >> 1;
  const auto two_to = [](std::int32_t k) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(k + 127) << 23);
  };
  return p * two_to(half) * two_to(power - half);
}

// exp(a - b), and exp(a) where both are the same infinity.
inline float napkin_expdiff(float a, float b) {
  const float difference = a - b;
  return napkin_exp(difference == difference ? difference : a);
}
inline double napkin_expdiff(double a, double b) { return std::exp(a - b == a - b ? a - b : a); }
inline double napkin_expdiff(float a, double b) { return napkin_expdiff(double(a), b); }
inline double napkin_expdiff(double a, float b) { return napkin_expdiff(a, double(b)); }

#endif
)";

}  // namespace napkin
