#include "search/descent.hpp"

#include <algorithm>
#include <utility>

#include "diagram/checked.hpp"

namespace napkin {

// A shape that is continued counts as this many partitions, the least that its climb evaluates.
constexpr std::int64_t least_of_climb = 64;

std::vector<Descent::Top> Descent::run(std::vector<std::size_t> shapes, const Width& width, const Ascent& ascent) {
  while (!shapes.empty() && !shapes_.at(shapes.front()).whole) {
    const auto best = best_climbed(shapes, width);
    shapes.clear();
    for (const auto shape : best) {
      if (std::ssize(shapes) >= width.partitions / least_of_climb) break;
      for (const auto next : shapes_.next(shape)) shapes.push_back(next);
    }
  }
  if (ascent.far) shapes = best_climbed(shapes, width);
  return climb_all(shapes, width, ascent);
}

std::vector<Descent::Top> Descent::climb_all(const std::vector<std::size_t>& shapes, const Width& width,
                                             const Ascent& ascent) {
  const auto end = saturating_add(evaluated_, width.partitions);
  std::vector<Top> tops;
  for (const auto shape : shapes) {
    if (evaluated_ >= end) break;
    if (auto top = climbed(shape, ascent)) tops.push_back({shape, std::move(*top)});
  }
  return tops;
}

std::vector<std::size_t> Descent::best_climbed(const std::vector<std::size_t>& shapes, const Width& width) {
  auto tops = climb_all(shapes, width, {});
  std::ranges::stable_sort(tops, {}, [](const Top& top) { return top.best.score; });
  std::vector<std::size_t> best;
  for (const auto& top : tops)
    if (best.size() < width.shapes) best.push_back(top.shape);
  return best;
}

std::optional<Climbed> Descent::climbed(std::size_t shape, const Ascent& ascent) {
  const auto climb = [&] { return napkin::climb(space_, scoring_, shapes_.at(shape), pieces_, ascent, evaluated_); };
  if (ascent.far) return climb();
  const auto known = climbed_.find(shape);
  return known != climbed_.end() ? known->second : climbed_[shape] = climb();
}

}  // namespace napkin
