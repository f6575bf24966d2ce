// The least and the greatest value of a condition's linear form on a piece, and tests of the condition by them.
#pragma once

#include <algorithm>

#include "loops/pieces.hpp"

namespace napkin {

struct Extremes {
  double least = 0, greatest = 0;
  void add(double coefficient, const Interval& piece) {
    const double first = coefficient * static_cast<double>(piece.begin);
    const double last = coefficient * static_cast<double>(piece.end - 1);
    least += std::min(first, last);
    greatest += std::max(first, last);
  }
};

// A condition holds somewhere, or everywhere, on a piece if the extremes of its form pass both of these bounds.
inline bool not_too_low(const Condition& c, bool everywhere, const Extremes& e) {
  if (c.below) return true;
  const double value = everywhere ? e.least : e.greatest;
  return c.at ? value >= 0 : value > 0;
}
inline bool not_too_high(const Condition& c, bool everywhere, const Extremes& e) {
  if (c.above) return true;
  const double value = everywhere ? e.greatest : e.least;
  return c.at ? value <= 0 : value < 0;
}

}  // namespace napkin
