// Laws that every picture keeps: marks inside the page, words clear of words and of wires.
#pragma once

#include <algorithm>
#include <cmath>
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

// Where wires bend: as curves, of which points are taken closely.
struct Curve {
  double begin, end, from, to;
  double at(double x) const {
    double low = 0, high = 1;
    for (int i = 0; i < 40; ++i) {
      const double t = (low + high) / 2;
      (1.5 * t * (1 - t) + t * t * t < (x - begin) / (end - begin) ? low : high) = t;
    }
    return from + (to - from) * low * low * (3 - 2 * low);
  }
};
inline std::vector<Curve> curves(const Scene& scene) {
  std::vector<Curve> all;
  for (const auto& mark : scene.marks) {
    if (mark.kind != MarkKind::wire) continue;
    const auto& points = std::get<Line>(mark.shape).points;
    for (std::size_t i = 1; i < points.size(); ++i)
      all.push_back({points[i - 1].x, points[i].x, points[i - 1].y, points[i].y});
  }
  return all;
}

// Points where two wires cross and a third one goes through.
inline std::size_t knots(const Scene& scene) {
  const auto all = curves(scene);
  std::size_t count = 0;
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      const double low = std::max(all[a].begin, all[b].begin), high = std::min(all[a].end, all[b].end);
      if (high - low < 1 || (all[a].from == all[a].to && all[b].from == all[b].to)) continue;
      for (double x = low + 0.5; x + 0.5 < high; x += 0.5) {
        const double before = all[a].at(x) - all[b].at(x), after = all[a].at(x + 0.5) - all[b].at(x + 0.5);
        if (before * after >= 0) continue;
        for (std::size_t c = 0; c < all.size(); ++c)
          if (c != a && c != b && all[c].begin < x && x < all[c].end)
            count += std::abs(all[c].at(x) - all[a].at(x)) < 2;
      }
    }
  return count;
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
