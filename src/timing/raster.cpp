// Rasterization: the order of the blocks, and the share of the blocks running at once that are the first to read a
// tile.
#include "timing/raster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "diagram/index.hpp"
#include "loops/pieces.hpp"

namespace napkin {

const Cache* cache_of(const Mainloop& mainloop, const Hardware& hardware) {
  for (const auto& cache : hardware.caches)
    if (cache.below == hardware.levels[mainloop.core - 1].name && cache.bandwidth) return &cache;
  return nullptr;
}

VisitOrder as_written(const Mainloop& mainloop) {
  VisitOrder order;
  for (const auto& group : mainloop.nest->groups) {
    if (group.level < mainloop.core) continue;  // belongs to another memory with its own cache
    const auto size = mainloop.diagram().size(group.wire).value_or(1);
    order.push_back({group.wire, pieces_of(size, group.size)});
  }
  return order;
}

double first_readers(const Mainloop& mainloop, BufferId tile, const Hardware& hardware) {
  return first_readers(mainloop, tile, as_written(mainloop), hardware);
}

double first_readers(const Mainloop& mainloop, BufferId tile, const VisitOrder& order, const Hardware& hardware) {
  double at_once = static_cast<double>(hardware.levels[mainloop.core].count), blocks = 1, different = 1;
  for (auto visited = order.rbegin(); visited != order.rend(); ++visited) {
    const auto pieces = static_cast<double>(visited->pieces);
    const double here = std::min(pieces, at_once);
    blocks *= here;
    if (moves(mainloop.nest->at(tile).at, visited->wire)) different *= here;
    at_once = std::max(1.0, at_once / pieces);
  }
  return std::min(1.0, different / blocks);
}

namespace {

double step_bytes(const Mainloop& mainloop, const VisitOrder& order, const Hardware& hardware) {
  const auto cores = static_cast<double>(hardware.levels[mainloop.core].count);
  double bytes = 0;
  for (const auto tile : mainloop.streamed)
    bytes += cores * first_readers(mainloop, tile, order, hardware) * mainloop.moved(tile, false);
  return bytes;
}

std::string words(const Mainloop& mainloop, const VisitOrder& order) {
  std::string text;
  for (const auto& one : order) text += (text.empty() ? "" : ", ") + mainloop.diagram().at(one.wire).name;
  const auto& last = order.back();
  const bool blocked = std::ranges::count(order, last.wire, &Visited::wire) > 1;
  return blocked ? text + fmt::format(" by {}", last.pieces) : text;
}

// Returns the orders to try, the one as written first; none if only one order exists.
std::vector<VisitOrder> orders(const Mainloop& mainloop, const Hardware& hardware) {
  auto written = as_written(mainloop);
  std::erase_if(written, [](const Visited& one) { return one.pieces < 2; });
  constexpr std::size_t most_groups = 4;
  if (!cache_of(mainloop, hardware) || written.size() < 2 || written.size() > most_groups) return {};
  std::vector<VisitOrder> all = {written};
  std::vector<std::size_t> places(written.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  while (std::ranges::next_permutation(places).found) {
    auto& order = all.emplace_back();
    for (const auto place : places) order.push_back(written[place]);
  }
  // The last two groups are blocked: `width` pieces of one for each piece of the other.
  const auto outer = written[written.size() - 2], inner = written.back();
  for (const auto& [blocked, other] : {std::pair(outer, inner), std::pair(inner, outer)})
    for (const std::int64_t width : {2, 4, 8, 16, 32}) {
      if (width >= blocked.pieces) continue;
      VisitOrder order(written.begin(), written.end() - 2);
      order.push_back({blocked.wire, pieces_of(blocked.pieces, width)});
      order.push_back(other);
      order.push_back({blocked.wire, width});
      all.push_back(std::move(order));
    }
  return all;
}

}  // namespace

std::vector<Raster> rasters(const Mainloop& mainloop, const Hardware& hardware) {
  std::vector<Raster> all;
  for (const auto& order : orders(mainloop, hardware))
    all.push_back({words(mainloop, order), step_bytes(mainloop, order, hardware)});
  return all;
}

VisitOrder best_order(const Mainloop& mainloop, const Hardware& hardware) {
  VisitOrder best;
  double least = 0;
  for (const auto& order : orders(mainloop, hardware))
    if (const double bytes = step_bytes(mainloop, order, hardware); best.empty() || bytes < least * (1 - 1e-9))
      best = order, least = bytes;
  return best;
}

}  // namespace napkin
