// Distributes pieces round-robin to children, level by level. The busiest child of each level decides the time. A
// memory holds one piece at a time, so that its children divide one piece after the other.
#include "cost/times/spread.hpp"

#include <algorithm>
#include <cmath>

namespace napkin {

void spread_blocks(const Hardware& hardware, const Figures& figures, BlockSpread& spread) {
  const auto core = hardware.core.value_or(1);
  spread.busy_level.assign(core + 1, 1);
  spread.rounds = 1;
  for (std::size_t level = 1; level <= core; ++level) {
    const auto& at = figures.levels[level];
    spread.turns = spread.rounds;
    spread.per_core = static_cast<double>(at.groups_per_parent) / static_cast<double>(hardware.levels[level].count);
    spread.rounds *= std::ceil(spread.per_core);
    spread.busy_level[level] =
        static_cast<double>(at.groups) / (spread.rounds * static_cast<double>(hardware.total(level)));
  }
  spread.busy = spread.busy_level[core];
  // Every core has something to load as soon as each has had a block.
  spread.busy_level[core] = spread.busy_level[core - 1] * std::min(1.0, spread.per_core);
}

}  // namespace napkin
