// Numbers -> words. One function scales; each quantity is a row of unit names.
#include "text/quantity.hpp"

#include <fmt/format.h>

#include <cmath>

namespace napkin {
namespace {

constexpr Scale decimal_bytes[] = {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}};
constexpr Scale binary_bytes[] = {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}};
constexpr Scale plain[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};
constexpr Scale seconds_scale[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};

}  // namespace

std::string three_digits(double number) {
  const double size = std::abs(number);
  return fmt::format("{:.{}f}", number, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

std::string scaled(double number, std::span<const Scale> scales) {
  const Scale* chosen = &scales.front();
  for (const auto& scale : scales) {
    if (std::abs(number) >= scale.factor * 0.9995) chosen = &scale;
  }
  const double scaled_number = number / chosen->factor;
  const bool exact = chosen->factor == 1 || std::fmod(chosen->factor, 1024) == 0;
  const bool whole = exact && scaled_number == std::floor(scaled_number);
  const auto text = whole ? fmt::format("{:.0f}", scaled_number) : three_digits(scaled_number);
  return chosen->name.empty() ? text : fmt::format("{} {}", text, chosen->name);
}

std::string moved(double bytes) { return scaled(bytes, decimal_bytes); }
std::string held(double bytes) { return scaled(bytes, binary_bytes); }
std::string counted(double number) { return scaled(number, plain); }
std::string lasting(double seconds) { return seconds == 0 ? "0 s" : scaled(seconds, seconds_scale); }

std::string rate(double per_second, const std::string& unit) {
  const auto text = counted(per_second);
  return text.find(' ') == std::string::npos ? text + " " + unit : text + unit;
}

}  // namespace napkin
