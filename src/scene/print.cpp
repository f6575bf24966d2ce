// Prints a scene in words, one line per mark, for golden files.
#include <fmt/format.h>

#include "diagram/match.hpp"
#include "napkin/scene.hpp"

namespace napkin {
namespace {

std::string shape_text(const Mark& mark) {
  return match(
      mark.shape,
      [](const Line& line) {
        std::string text;
        for (const auto& point : line.points) text += fmt::format(" {:g},{:g}", point.x, point.y);
        return text;
      },
      [](const Area& area) { return fmt::format(" {:g},{:g} {:g}x{:g}", area.x, area.y, area.width, area.height); },
      [](const Words& words) {
        return fmt::format(" {:g},{:g} {}{}", words.at.x, words.at.y, words.barred ? "barred " : "", words.text);
      });
}

}  // namespace

std::string_view name(MarkKind kind) {
  constexpr std::string_view names[] = {
      "title",         "note",      "separator",  "wire",     "cup",   "dot",       "pointwise", "mask",
      "normalisation", "reduction", "reindexing", "function", "array", "wire-name", "size",      "onward",
      "region",        "figure",    "span",       "axis",     "grid",  "tick",      "label",     "limit",
      "bar",           "cell",      "again",      "curve",    "point", "hatch",     "barrier",   "frame"};
  return names[static_cast<std::size_t>(kind)];
}

std::string to_text(const Scene& scene) {
  auto text = fmt::format("scene {} {:g} x {:g}\n", scene.title, scene.width, scene.height);
  for (const auto& mark : scene.marks) {
    text += fmt::format("{}{}", name(mark.kind), shape_text(mark));
    if (!mark.array.empty()) text += fmt::format(" [{} {}]", mark.array, mark.axis);
    if (mark.series) text += fmt::format(" #{}", *mark.series);
    if (mark.level) text += " at " + scene.levels.at(*mark.level).name;
    text += "\n";
  }
  return text;
}

}  // namespace napkin
