#include "search/descent.hpp"

#include <algorithm>
#include <utility>

#include "diagram/checked.hpp"

namespace napkin {

// What a climb looks at and what making its shape takes, in partitions.
constexpr std::int64_t least_of_climb = 64;

std::vector<Descent::Top> Descent::run(std::vector<std::size_t> shapes, const Width& width, const Ascent& ascent) {
  while (!shapes.empty() && !shapes_.at(shapes.front()).whole) {
    const auto best = best_climbed(shapes, width, {});
    shapes.clear();
    for (const auto shape : best) {
      if (std::ssize(shapes) >= width.partitions / least_of_climb) break;
      for (const auto next : shapes_.next(shape)) shapes.push_back(next);
    }
  }
  if (ascent.far) shapes = best_climbed(shapes, width, {});
  std::vector<Top> tops;
  const auto end = saturating_add(evaluated_, width.partitions);
  for (const auto shape : shapes) {
    if (evaluated_ >= end) break;
    if (auto top = climbed(shape, ascent)) tops.push_back({shape, std::move(top->sizes)});
  }
  return tops;
}

std::vector<std::size_t> Descent::best_climbed(const std::vector<std::size_t>& shapes, const Width& width,
                                               const Ascent& ascent) {
  const auto end = saturating_add(evaluated_, width.partitions);
  std::vector<std::pair<Score, std::size_t>> tops;
  for (const auto shape : shapes) {
    if (evaluated_ >= end) break;
    if (const auto top = climbed(shape, ascent)) tops.emplace_back(top->score, shape);
  }
  std::ranges::stable_sort(tops, {}, &std::pair<Score, std::size_t>::first);
  std::vector<std::size_t> best;
  for (const auto& [score, shape] : tops)
    if (best.size() < width.shapes) best.push_back(shape);
  return best;
}

std::optional<Climbed> Descent::climbed(std::size_t shape, const Ascent& ascent) {
  const auto climb = [&] { return napkin::climb(space_, scoring_, shapes_.at(shape), pieces_, ascent, evaluated_); };
  if (ascent.far) return climb();
  const auto known = climbed_.find(shape);
  return known != climbed_.end() ? known->second : climbed_[shape] = climb();
}

}  // namespace napkin
