// Finds what a launch moves between memories. A cache serves repeated reads on the way to the cores' memories. If the
// iterations of the launch are timed, these are the reads of blocks at the same time and, unless memory bounds the
// launch, what fits into the cache. Otherwise they are what fits into the cache. The memory repeats no more
// reads than it can in the time of the launch.
#include <algorithm>

#include "napkin/summary.hpp"
#include "timing/labels.hpp"
#include "timing/launch_configs.hpp"
#include "timing/raster.hpp"

namespace napkin {
namespace {

const Cache* cache_above(const Hardware& hardware, std::size_t level) {
  for (const auto& cache : hardware.caches)
    if (cache.below == hardware.levels[level - 1].name) return &cache;
  return nullptr;
}

double once(const ArrayCost& array) {
  const auto bytes = static_cast<double>(array.transfer_bytes);
  return array.times > 1 ? bytes / array.times : bytes;
}

// Returns the share of what blocks load of an array that comes from memory. Each tile counts by its bytes, because two
// reads of an array may have tiles that differ in which blocks read them.
double share_from_memory(const LaunchConfigs& configs, const ArrayCost& array) {
  const auto& mainloop = configs.mainloop();
  double all = 0, first = 0;
  const auto add = [&](BufferId tile, double times) {
    if (mainloop.diagram().at(mainloop.nest->at(tile).array).name != array.array) return;
    const double bytes = times * mainloop.moved(tile, true);
    all += bytes, first += bytes * first_readers(mainloop, tile, configs.hardware());
  };
  for (const auto tile : mainloop.streamed) add(tile, 1);
  for (const auto& edge : mainloop.edges) add(edge.buffer, edge.around.times);
  return all > 0 ? first / all : 1;
}

// Returns the share of repeated reads that the cache serves: the share of what is moved once that fits into it.
double share_that_fits(const KernelCost& cost, const Cache& cache) {
  const double room = cache.capacity.value * (cache.effective_fraction ? cache.effective_fraction->value : 1);
  return std::min(1.0, room / std::max(1.0, static_cast<double>(cost.compulsory_bytes)));
}

// If memory bounds the kernel, its time counts only what blocks read at the same time.
bool is_bound_by_memory(const KernelCost& cost, const Hardware& hardware, std::size_t core) {
  return cost.bound_by == hardware.levels[core].name && cost.bound_from == hardware.levels[core - 1].name;
}

double from_memory(const ArrayCost& array, const KernelCost& cost, const Cache& cache, const LaunchConfigs* configs) {
  const auto bytes = static_cast<double>(array.transfer_bytes);
  if (array.saved) return bytes;
  const double by_room = once(array) + (bytes - once(array)) * (1 - share_that_fits(cost, cache));
  if (!configs) return by_room;
  const double at_once = std::max(once(array), bytes * share_from_memory(*configs, array));
  return is_bound_by_memory(cost, configs->hardware(), configs->mainloop().core) ? at_once : std::min(at_once, by_room);
}

Crossing crossing(const std::string& from, const std::string& to, const LevelCost& level) {
  Crossing made{from, to, static_cast<double>(level.transfer_bytes), {}};
  for (const auto& array : level.arrays)
    made.arrays.push_back({array.array, static_cast<double>(array.transfer_bytes), array.times, array.saved});
  std::ranges::stable_sort(made.arrays, std::greater{}, &Crossing::OfArray::bytes);
  return made;
}

// Returns the share of repeated reads, given by what arrays move once and in all, for which the memory has time. The
// time of a launch counts no more, so that the cache serves the others.
double share_in_time(double once, double all, const KernelCost& cost, const Level& level) {
  if (!level.bandwidth || !cost.time_s) return 1;
  const double most = level.bandwidth->reached() * *cost.time_s;
  return all > most && all > once ? std::max(0.0, most - once) / (all - once) : 1;
}

// Returns what moves between memory and the cache, before the cache passes it on.
Crossing beyond(const Crossing& inner, const LevelCost& level, const KernelCost& cost, const Cache& cache,
                const LaunchConfigs* configs, const Hardware& hardware) {
  Crossing made{inner.from, cache.name, 0, {}};
  double all = 0, least = 0;
  const auto at_least = [](const ArrayCost& array) {
    return array.saved ? static_cast<double>(array.transfer_bytes) : once(array);
  };
  for (const auto& array : level.arrays) all += from_memory(array, cost, cache, configs), least += at_least(array);
  const double share = share_in_time(least, all, cost, hardware.levels[level.level]);
  for (const auto& array : level.arrays) {
    const double own = at_least(array), bytes = own + share * (from_memory(array, cost, cache, configs) - own);
    made.bytes += bytes;
    made.arrays.push_back({array.array, bytes, std::max(1.0, bytes / std::max(1.0, once(array))), array.saved});
  }
  std::ranges::stable_sort(made.arrays, std::greater{}, &Crossing::OfArray::bytes);
  return made;
}

}  // namespace

std::string memory_name(const std::string& level) {
  if (level == "gmem" || level == "dram") return "DRAM";
  if (level == "reg") return "registers";
  for (const auto* cache : {"L1", "L2", "L3"})
    if (level.size() == 2 && level[0] == 'l' && level[1] == cache[1]) return cache;
  return level;
}

std::vector<Crossing> crossings(const Kernel& asked, const KernelCost& cost, const Hardware& hardware, Model model) {
  const auto kernel = without_idle_labels(asked);
  const auto configs = hardware.core && model == Model::machine ? LaunchConfigs::of(kernel, hardware, model) : nullptr;
  std::vector<Crossing> all;
  for (const auto& level : cost.levels) {
    const auto* cache = model == Model::machine ? cache_above(hardware, level.level) : nullptr;
    auto made = crossing(hardware.levels[level.level - 1].name, hardware.levels[level.level].name, level);
    if (cache) {
      const bool core = hardware.core && level.level == *hardware.core;
      all.push_back(beyond(made, level, cost, *cache, core ? configs.get() : nullptr, hardware));
      made.from = cache->name;
    }
    if (configs && level.level == *hardware.core + 1) {
      const auto time = launch_time(*configs, demand_of(kernel, hardware));
      if (time) made.bytes = time->inner_bytes, made.arrays.clear();
    }
    all.push_back(std::move(made));
  }
  return all;
}

void MovedBytes::add(const MovedBytes& other) {
  dram += other.dram, registers += other.registers;
  if (other.cache) cache = cache.value_or(0) + *other.cache;
}

MovedBytes moved_bytes(const std::vector<Crossing>& traffic, const Hardware& hardware) {
  const auto core = hardware.core.value_or(1);
  MovedBytes made;
  for (const auto& one : traffic) {
    const bool from_memory = one.from == hardware.levels[core - 1].name;
    if (from_memory) made.dram += one.bytes;
    if (!from_memory && one.to == hardware.levels[core].name) made.cache = one.bytes;
  }
  if (!traffic.empty()) made.registers = traffic.back().bytes;
  return made;
}

}  // namespace napkin
