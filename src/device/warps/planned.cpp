// Takes the planned configuration of a kernel from the fastest launch configuration in the model of the machine.
#include "device/warps/planned.hpp"

#include <cmath>

#include "timing/labels.hpp"
#include "timing/launch_configs.hpp"

namespace napkin {

Planned planned(const Kernel& kernel, const Hardware& hardware) {
  if (!hardware.core) return {};
  const auto of_cores = down_to(kernel, *hardware.core);
  const auto configs = LaunchConfigs::of(of_cores, hardware, Model::machine);
  if (!configs) return {};
  const auto demand = demand_of(of_cores, hardware);
  const auto config = configs->in_full(configs->best(demand), demand);
  if (!config.runs()) return {};
  const auto there = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(demand.per_core)));
  return {config.chosen().overlap,
          std::min(config.chosen().occupancy.blocks, there),
          config.chosen().stages,
          config.keeps,
          configs->mainloop().row,
          config.warpgroup.rows,
          configs->mainloop().issues_together(),
          config.chosen().within};
}

}  // namespace napkin
