// A machine -> the hash of what the stages see of it. Names of people and papers may change; a number may not.
#include "text/fingerprint.hpp"

#include <fmt/format.h>

#include <set>

#include "napkin/hardware.hpp"

namespace napkin {
namespace {

std::string level_line(const Level& level) {
  return fmt::format("level {} {} {} {} {} {} {}\n", level.name, level.unit, level.count, level.shared, level.together,
                     level.in_values, level.max_groups.value_or(0));
}

// A shape has no value: it is what it says.
std::string figure_line(const Figure& figure) {
  const bool shape = figure.unit == "shape";
  return fmt::format("{} {} {}\n", figure.path, shape ? figure.written : fmt::format("{}", figure.value), figure.unit);
}

}  // namespace

std::string fingerprint(const Hardware& hardware) {
  std::string text = fmt::format("{} {}\n", hardware.cuda_architecture, hardware.core.value_or(0));
  for (const auto& level : hardware.levels) text += level_line(level);
  for (const auto& cache : hardware.caches) text += fmt::format("cache {} {}\n", cache.name, cache.below);
  std::set<std::string> figures;  // in whatever order the file has them
  for (const auto& figure : hardware.figures) figures.insert(figure_line(figure));
  for (const auto& line : figures) text += line;
  for (const auto size : hardware.limits.shared_carve_outs) text += fmt::format("carve-out {}\n", size);
  return fingerprint(std::string_view(text));
}

}  // namespace napkin
