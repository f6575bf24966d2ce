// Adds up every byte and operation at its own price, bytes that a cache serves at the cache's price, and the power of
// the idle machine while the launch lasts.
#include "cost/times/energy.hpp"

#include "cost/times/bandwidths.hpp"

namespace napkin {
namespace {

// The bytes of a level that a cache serves at its own price.
double priced_by_cache(const CostModel& model, const Figures& figures, std::size_t level) {
  const auto* cache = model.caches[level];
  if (!cache || !cache->energy_per_byte) return 0;
  return from_cache(model, level, figures, static_cast<double>(model.hardware->total(level - 1)));
}

void add_joules_of_operations(const CostModel& model, const Figures& figures, double& joules) {
  for (std::size_t i = 0; i < model.work.size(); ++i) {
    const auto* unit = model.hardware->find(model.work[i].unit);
    if (!unit) continue;
    const auto price = unit->energy.find(model.work[i].type);
    if (price != unit->energy.end()) joules += figures.operations[i] * price->second.value;
  }
}

}  // namespace

std::optional<double> energy_of(const CostModel& model, const Figures& figures, std::optional<double> seconds,
                                std::size_t end) {
  const auto& hardware = *model.hardware;
  double joules = 0;
  for (std::size_t level = 1; level < end; ++level) {
    const auto& price = hardware.levels[level].energy_per_byte;
    if (!price) return {};
    const double answered = priced_by_cache(model, figures, level);
    joules += (moved_sectors(model, level, figures) - answered) * price->value;
    if (answered > 0) joules += answered * model.caches[level]->energy_per_byte->value;
  }
  add_joules_of_operations(model, figures, joules);
  if (hardware.idle_watts && seconds) joules += hardware.idle_watts->value * *seconds;
  return joules;
}

}  // namespace napkin
