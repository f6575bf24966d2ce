// Numbers as people read them: three digits and a unit. Transfers in powers of ten, as bandwidths are; memory in powers
// of two, as chips are.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace napkin {

struct Scale {
  double factor;
  std::string_view name;
};
std::string three_digits(double number);
// In the largest unit of which there is at least one, once rounded to three digits. Whole numbers of the first unit,
// and of binary units, stay whole.
std::string scaled(double number, std::span<const Scale> scales);

std::string moved(double bytes);                               // "68.2 MB"
std::string held(double bytes);                                // "97.3 KiB"
std::string counted(double number);                            // "8.59 G"
std::string lasting(double seconds);                           // "25.1 us"
std::string rate(double per_second, const std::string& unit);  // "342 TFLOP/s"

}  // namespace napkin
