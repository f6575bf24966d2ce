// Numbers -> words. One function scales; each quantity is a row of unit names.
#include "emit/report_quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace napkin::report {
namespace {

struct Scale {
  double factor;
  std::string_view name;
};

constexpr Scale decimal_bytes[] = {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}};
constexpr Scale binary_bytes[] = {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}};
constexpr Scale plain[] = {{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};
constexpr Scale seconds_scale[] = {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};
constexpr Scale joules_scale[] = {{1e-12, "pJ"}, {1e-9, "nJ"}, {1e-6, "uJ"}, {1e-3, "mJ"}, {1, "J"}, {1e3, "kJ"}};

// Three significant digits.
std::string digits(double number) {
  const double size = std::abs(number);
  return fmt::format("{:.{}f}", number, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

// The largest unit of which there is at least one, once rounded to three digits. Whole numbers of the first unit, and
// of binary units, stay whole.
std::string scaled(double number, std::span<const Scale> scales) {
  const Scale* chosen = &scales.front();
  for (const auto& scale : scales) {
    if (std::abs(number) >= scale.factor * 0.9995) chosen = &scale;
  }
  const double scaled_number = number / chosen->factor;
  const bool exact = chosen->factor == 1 || std::fmod(chosen->factor, 1024) == 0;
  const bool whole = exact && scaled_number == std::floor(scaled_number);
  const auto text = whole ? fmt::format("{:.0f}", scaled_number) : digits(scaled_number);
  return chosen->name.empty() ? text : fmt::format("{} {}", text, chosen->name);
}

}  // namespace

std::string moved(double bytes) { return scaled(bytes, decimal_bytes); }
std::string held(double bytes) { return scaled(bytes, binary_bytes); }
std::string counted(double number) { return scaled(number, plain); }
std::string values(double number) { return counted(number) + " values"; }
std::string lasting(double seconds) { return seconds == 0 ? "0 s" : scaled(seconds, seconds_scale); }
std::string lasting(std::optional<double> seconds) { return seconds ? lasting(*seconds) : "-"; }
std::string energy(double joules) { return joules == 0 ? "0 J" : scaled(joules, joules_scale); }

std::string rate(double per_second, const std::string& unit) {
  const auto text = scaled(per_second, plain);
  return text.find(' ') == std::string::npos ? text + " " + unit : text + unit;
}

std::string ratio(double number) {
  const double rounded = std::round(number * 100) / 100;
  if (number >= 1e6) return fmt::format("{:.3g}", number);
  if (rounded == std::floor(rounded)) return fmt::format("{:.0f}", rounded);
  return fmt::format("{:.{}f}", number, number < 100 ? 2 : 1);
}

std::string share(double part, double whole) {
  if (whole <= 0) return "-";
  const double percent = 100 * part / whole;
  return percent > 0 && percent < 1 ? "<1 %" : fmt::format("{:.0f} %", percent);
}

std::string bar(double part, double whole) {
  constexpr int length = 10;
  const double full = whole > 0 ? part / whole : 0;
  const int marks = std::clamp(static_cast<int>(std::ceil(full * length - 1e-9)), 0, length);
  return std::string(static_cast<std::size_t>(marks), '#') + std::string(static_cast<std::size_t>(length - marks), '.');
}

}  // namespace napkin::report
