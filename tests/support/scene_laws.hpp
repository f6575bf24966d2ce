// Laws that every picture keeps: marks inside the page, words clear of words and of wires.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "napkin/scene.hpp"

namespace napkin::test {

struct Rectangle {
  double left, top, right, bottom;
};

inline Rectangle box(const Words& words) {
  const double shift = words.anchor == Anchor::start    ? 0
                       : words.anchor == Anchor::middle ? words.width / 2
                                                        : words.width;
  return {words.at.x - shift, words.at.y - 7, words.at.x - shift + words.width, words.at.y + 7};
}

inline bool meet(const Rectangle& a, const Rectangle& b) {
  return a.left < b.right - 0.1 && b.left < a.right - 0.1 && a.top < b.bottom - 0.1 && b.top < a.bottom - 0.1;
}

inline std::vector<Rectangle> boxes(const Mark& mark) {
  if (const auto* words = std::get_if<Words>(&mark.shape)) return {box(*words)};
  if (const auto* area = std::get_if<Area>(&mark.shape))
    return {{area->x, area->y, area->x + area->width, area->y + area->height}};
  std::vector<Rectangle> all;
  for (const auto& point : std::get<Line>(mark.shape).points) all.push_back({point.x, point.y, point.x, point.y});
  return all;
}

// Level pieces of wires and cups.
inline std::vector<Rectangle> wires(const Scene& scene) {
  std::vector<Rectangle> all;
  for (const auto& mark : scene.marks) {
    if (mark.kind != MarkKind::wire && mark.kind != MarkKind::cup) continue;
    const auto& points = std::get<Line>(mark.shape).points;
    for (std::size_t i = 1; i < points.size(); ++i)
      if (points[i].y == points[i - 1].y)
        all.push_back({points[i - 1].x, points[i].y - 0.8, points[i].x, points[i].y + 0.8});
  }
  return all;
}

inline std::vector<std::string> outside(const Scene& scene) {
  std::vector<std::string> all;
  for (const auto& mark : scene.marks)
    for (const auto& b : boxes(mark))
      if (b.left < 0 || b.top < 0 || b.right > scene.width || b.bottom > scene.height)
        all.push_back(std::string(name(mark.kind)));
  return all;
}

inline std::vector<std::string> collisions(const Scene& scene) {
  std::vector<std::string> all;
  std::vector<std::pair<Rectangle, std::string>> words;
  for (const auto& mark : scene.marks)
    if (const auto* w = std::get_if<Words>(&mark.shape)) words.emplace_back(box(*w), w->text);
  for (std::size_t i = 0; i < words.size(); ++i)
    for (std::size_t j = i + 1; j < words.size(); ++j)
      if (meet(words[i].first, words[j].first)) all.push_back(words[i].second + " on " + words[j].second);
  for (const auto& wire : wires(scene))
    for (const auto& [where, text] : words)
      if (meet(wire, where)) all.push_back(text + " on a wire");
  return all;
}

// Every example, and the largest diagram.
inline std::vector<std::string> drawn_files() {
  std::vector<std::string> all = {NAPKIN_SOURCE_DIR "/bench/twenty.nap"};
  for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".nap") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace napkin::test
