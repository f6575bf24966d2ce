// Compares figures with the capacities of a machine.
#include "cost/figures/fits.hpp"

namespace napkin {

bool fits(const CostModel& model, const Figures& figures, Model kind, std::size_t end) {
  const auto& levels = model.hardware->levels;
  if (figures.overflow || model.outermost > levels[0].room()) return false;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const auto& level = levels[i];
    const auto& at = figures.levels[i];
    if (level.max_groups && at.groups_per_parent > *level.max_groups) return false;
    if (i >= end) continue;
    const auto one = static_cast<double>(held_by_one(level, at, kind));
    if (one > model.rooms.at(i, at.groups_per_parent)) return false;
    if (static_cast<double>(held_by_all(level, at, kind)) > model.rooms.of_all[i]) return false;
  }
  return true;
}

}  // namespace napkin
