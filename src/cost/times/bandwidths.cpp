// Divides the bytes of a level among memory and cache.
#include "cost/times/bandwidths.hpp"

#include <algorithm>

namespace napkin {

double moved_bytes(const CostModel& model, std::size_t level, const Figures& figures) {
  const auto& at = figures.levels[level];
  return static_cast<double>(has_siblings(model, level) ? at.crossing_bytes : at.transfer_bytes);
}

double moved_sectors(const CostModel& model, std::size_t level, const Figures& figures) {
  return has_siblings(model, level) ? moved_bytes(model, level, figures) : figures.levels[level].sector_bytes;
}

double must_move(const CostModel& model, std::size_t level, const Figures& figures) {
  return static_cast<double>(
      std::max(model.compulsory_bytes, level > 1 ? figures.levels[level - 1].transfer_bytes : 0));
}

double from_cache(const CostModel& model, std::size_t level, const Figures& figures, double memories) {
  const auto* cache = model.caches[level];
  if (!cache) return 0;
  const auto once = must_move(model, level, figures);
  const double room =
      memories * cache->capacity.value * (cache->effective_fraction ? cache->effective_fraction->value : 1);
  return std::max(0.0, moved_sectors(model, level, figures) - once) * std::min(1.0, room / std::max(1.0, once));
}

// Bytes that the cache serves do not come from memory. Children without a block leave their share of the memory
// bandwidth to the others, but each child uses at most its own share of the cache bandwidth.
Sustained sustained(const CostModel& model, std::size_t level, const Figures& figures, const BlockSpread& spread) {
  const auto& hardware = *model.hardware;
  const auto* memory = bandwidth_of(hardware.levels[level]);
  const auto* cache = model.caches[level];
  const auto core = hardware.core.value_or(1);
  const double busy = level > core ? spread.busy : spread.busy_level[level];
  const auto bytes = moved_sectors(model, level, figures);
  if (!cache || !cache->bandwidth) return {seconds_at(bytes / busy, memory, &Rate::reached), {}};
  const double parents = level > core ? 1 : spread.busy_level[level - 1];
  const double memories = level > core ? 1 : parents * static_cast<double>(hardware.total(level - 1));
  const auto missed = bytes - from_cache(model, level, figures, memories);
  return {seconds_at(missed / (level > core ? busy : parents), memory, &Rate::reached),
          seconds_at(bytes / busy, &*cache->bandwidth, &Rate::reached)};
}

}  // namespace napkin
