// The grid in its order, as far as it runs at once.
#include "configure/raster.hpp"

#include <algorithm>

namespace napkin {

const Cache* cache_of(const BlockStep& step, const Hardware& hardware) {
  for (const auto& cache : hardware.caches)
    if (cache.below == hardware.levels[step.core - 1].name && cache.bandwidth) return &cache;
  return nullptr;
}

double first_readers(const BlockStep& step, BufferId tile, const Hardware& hardware) {
  const auto carries = [&](WireId wire) {
    return std::ranges::any_of(step.nest->at(tile).at, [&](const Index& index) {
      return std::ranges::any_of(index.terms, [&](const auto& term) { return term.first == wire; });
    });
  };
  double at_once = static_cast<double>(hardware.levels[step.core].count), blocks = 1, different = 1;
  for (auto group = step.nest->groups.rbegin(); group != step.nest->groups.rend(); ++group) {
    if (group->level < step.core) break;  // another memory, with a cache of its own
    const auto size = step.diagram().size(group->wire).value_or(1);
    const auto pieces = static_cast<double>((size + group->size - 1) / group->size);
    const double here = std::min(pieces, at_once);
    blocks *= here;
    if (carries(group->wire)) different *= here;
    at_once = std::max(1.0, at_once / pieces);
  }
  return std::min(1.0, different / blocks);
}

}  // namespace napkin
