// A column in words.
#include "loops/column.hpp"

#include <fmt/format.h>

namespace napkin {
namespace {

std::string element(const Diagram& diagram, ArrayId id) {
  const auto& array = diagram.at(id);
  std::string wires;
  for (const auto wire : array.wires) wires += (wires.empty() ? "" : ", ") + diagram.at(wire).name;
  return array.wires.empty() ? array.name : fmt::format("{}[{}]", array.name, wires);
}

std::string folded(const Diagram& diagram, const Column& column) {
  std::string over;
  for (const auto wire : column.over) over += (over.empty() ? "" : ", ") + diagram.at(wire).name;
  return fmt::format("{}[{}]({})", column.fold->name, over, to_text(diagram, column.value));
}

// Operators between their operands, functions before them.
std::string combined(const Pointwise& combine, const std::string& a, const std::string& b) {
  return combine.precedence > 0 ? fmt::format("{} {} {}", a, combine.name, b)
                                : fmt::format("{}({}, {})", combine.name, a, b);
}

}  // namespace

std::string to_text(const Diagram& diagram, const Column& column) {
  const auto output = element(diagram, column.output);
  if (!column.fold) return fmt::format("{} = {}", output, to_text(diagram, column.value));
  if (!column.carried) return fmt::format("{} = {}", output, folded(diagram, column));
  auto old = element(diagram, *column.carried);
  if (column.repair) old = fmt::format("{} * {}", to_text(diagram, *column.repair), old);
  return fmt::format("{} = {}", output, combined(*column.fold->combine, old, folded(diagram, column)));
}

}  // namespace napkin
