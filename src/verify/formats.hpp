// Properties of number formats that verification needs, found by rounding.
#pragma once

#include <cmath>

#include "napkin/functions.hpp"

namespace napkin {

inline bool is_whole(Datatype type) {
  return type == Datatype::i8 || type == Datatype::i4 || type == Datatype::i32 || type == Datatype::boolean;
}

// Half the distance between neighbours around 1: the largest relative error of rounding to the format.
inline double roundoff(Datatype type) {
  double step = 1;
  while (row(type).round(1 + step / 2) > 1 && step > 0x1p-52) step /= 2;
  return step / 2;
}

// The exponent of the greatest power of two in the format.
inline int greatest_exponent(Datatype type) {
  int exponent = 0;
  while (exponent < 1023 && row(type).round(std::ldexp(1.0, exponent + 1)) == std::ldexp(1.0, exponent + 1)) ++exponent;
  return exponent;
}

// The neighbour of `rounded` on the other side of `value`; `rounded` itself if there is none.
inline double other_neighbour(Datatype type, double value, double rounded) {
  double step = value - rounded;
  if (step == 0 || !std::isfinite(step)) return rounded;
  for (int i = 0; i < 64; ++i, step *= 2)
    if (const double other = row(type).round(rounded + step); other != rounded) return other;
  return rounded;
}

}  // namespace napkin
