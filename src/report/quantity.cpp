// Numbers in words. One function scales them; each quantity is a row of unit names.
#include "report/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace napkin::report {
namespace {

constexpr Scale joules_scale[] = {{1e-12, "pJ"}, {1e-9, "nJ"}, {1e-6, "uJ"}, {1e-3, "mJ"}, {1, "J"}, {1e3, "kJ"}};

}  // namespace

std::string flop(double operations) {
  const auto text = counted(operations);
  return text.find(' ') == std::string::npos ? text + " FLOP" : text + "FLOP";
}
std::string values(double number) { return counted(number) + " values"; }
std::string lasting(std::optional<double> seconds) { return seconds ? lasting(*seconds) : "-"; }
std::string energy(double joules) { return joules == 0 ? "0 J" : scaled(joules, joules_scale); }

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
