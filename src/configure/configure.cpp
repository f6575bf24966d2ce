// Describes how the blocks of a kernel run on a core. docs/theory.md, configuration.
#include "napkin/configure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "configure/timeline.hpp"
#include "text/quantity.hpp"
#include "timing/cluster.hpp"
#include "timing/divisors.hpp"
#include "timing/labels.hpp"
#include "timing/launch_configs.hpp"
#include "timing/mainloop/excess.hpp"
#include "timing/occupancy.hpp"
#include "timing/raster.hpp"

namespace napkin {
namespace {

class Describing {
 public:
  Describing(const LaunchConfigs& configs, const Hardware& hardware, Model model)
      : configs_(configs),
        mainloop_(configs.mainloop()),
        hardware_(hardware),
        path_{mainloop_, hardware, model, configs.has_cache()} {}

  Configuration run(const LaunchConfig& config) const {
    Configuration made;
    const auto& shape = *first_contraction(mainloop_).instruction;
    const auto& variables = configs_.variables();
    made.instruction = fmt::format("{} m{}n{}k{}", shape.name, shape.m, shape.n, shape.k);
    made.row_axis = mainloop_.diagram().at(mainloop_.row).name;
    made.rows = mainloop_.lengths[mainloop_.row.index];
    made.warpgroup_rows = config.warpgroup.rows, made.warpgroup_warps = config.warpgroup.warps,
    made.warpgroups = config.warpgroup.warpgroups;
    made.subloops = variables.subloops();
    made.divisors = divisors_of(mainloop_, hardware_, config.warpgroup.warps);
    made.pipelinings = config.pipelinings;
    made.chosen = config.fastest;
    for (auto& pipelining : made.pipelinings) {
      pipelining.occupancy.ladder = register_ladder(hardware_);
      pipelining.timeline = timeline(mainloop_, config.clocks, pipelining.overlap);
    }
    made.columns = variables.registers(config.warpgroup, config.chosen().overlap == Overlap::intra_warpgroup);
    made.variables = variables.shared(config.warpgroup, config.chosen().stages);
    for (const auto& variable : made.variables)
      (variable.by_warpgroup ? made.shared_warpgroup_bytes : made.shared_block_bytes) += variable.bytes;
    made.clocks = config.clocks.columns;
    made.resources = resources(config.clocks);
    made.bound = config.clocks.slowest;
    made.bandwidth = check(config);
    made.clusters = path_.clusters();
    if (configs_.has_cache()) made.rasters = rasters(mainloop_, hardware_);
    return made;
  }

 private:
  // Returns the resources in use.
  static std::vector<ResourceClocks> resources(const IterationClocks& clocks) {
    std::vector<ResourceClocks> all;
    for (const auto& resource : clocks.resources) {
      if (resource.clocks <= 0 && resource.seconds <= 0) continue;
      all.push_back(resource);
      all.back().slack = clocks.bound > 0 ? 1 - resource.seconds / clocks.bound : 0;
    }
    return all;
  }

  // All warpgroups that fit, counted by bytes, share what an iteration loads once for all rows.
  std::optional<BandwidthCheck> check(const LaunchConfig& config) const {
    const auto warpgroups = config.chosen().occupancy.warpgroups;
    if (warpgroups < 1 || config.clocks.bound <= 0) return std::nullopt;
    const auto rows = static_cast<double>(mainloop_.lengths[mainloop_.row.index]);
    double by_row = 0, shared = 0;
    const auto neighbours = path_.fastest_neighbours();
    for (const auto id : mainloop_.streamed) {
      const auto seconds = path_.way_in(id, neighbours).seconds();
      (mainloop_.has_row(id) ? by_row : shared) += mainloop_.has_row(id) ? seconds / rows : seconds;
    }
    BandwidthCheck made;
    made.rows = warpgroups * config.warpgroup.rows;
    double compute = 0;
    for (const auto& resource : config.clocks.resources)
      if (resource.on != Resource::copy) compute = std::max(compute, resource.seconds / rows);
    made.step_s = compute * static_cast<double>(made.rows);
    made.transfer_s = shared + by_row * static_cast<double>(made.rows);
    if (compute > by_row) made.least_rows = shared / (compute - by_row);
    const auto cores = static_cast<double>(hardware_.total(mainloop_.core));
    made.operations_per_s = config.clocks.operations / rows / compute * cores;
    return made;
  }

  const LaunchConfigs& configs_;
  const Mainloop& mainloop_;
  const Hardware& hardware_;
  CorePath path_;
};

// Returns why memories down to the cores cannot hold a partition; empty if they can. Registers are left to the launch.
std::string why_no_room(const Kernel& kernel, const Hardware& hardware, Model model) {
  const auto cost = estimate(kernel, hardware, model);
  const auto over =
      std::ranges::find_if(cost.overruns, [&](const Overrun& one) { return one.level <= *hardware.core; });
  if (over == cost.overruns.end()) return "";
  const auto& level = hardware.levels[over->level];
  if (over->what == "groups") return fmt::format("too many groups at {}", level.name);
  return fmt::format("{} {} too much for {}", level.in_values ? counted(over->over) : held(over->over),
                     level.in_values ? "values" : "are", level.name);
}

// Returns in a few words why no block of a tile runs; empty if one does.
std::string why_not(const Kernel& kernel, const LaunchConfigs& configs, const LaunchConfig& config,
                    const Hardware& hardware, Model model) {
  auto why = why_no_room(kernel, hardware, model);
  if (!why.empty() || config.runs()) return why;
  if (const auto excess = excess_of(configs.mainloop())) return std::string(excess->of);
  return why_no_block(configs, config);
}

// The time is that of the launch if the machine has one, else that of an iteration per operation.
std::optional<Neighbour> neighbour(const Kernel& kernel, std::size_t split, std::int64_t size, const LaunchConfig& now,
                                   const std::optional<Launch>& launch, const Hardware& hardware, Model model) {
  auto partition = kernel.partition;
  partition.splits[split].size = size;
  const auto changed = without_idle_labels(make_kernel(kernel.derivation, partition));
  const auto configs = LaunchConfigs::of(changed, hardware, model);
  if (!configs) return std::nullopt;
  const auto demand = demand_of(changed, hardware);
  const auto config = configs->best(demand);
  const auto why = why_not(changed, *configs, config, hardware, model);
  Neighbour made{configs->mainloop().diagram().at(partition.splits[split].wire).name,
                 partition.splits[split].kind,
                 size,
                 why.empty(),
                 config.chosen().overlap,
                 config.clocks.slowest,
                 0,
                 {},
                 why};
  made.times_as_fast = now.seconds_per_operation() / config.seconds_per_operation();
  if (!launch || !made.runs) return made;
  made.time_s = configs->launch(config, demand, 0).time_s;
  return made;
}

// Returns the next smaller and the next larger piece of every split at the core, whichever wire has the warpgroups'
// rows.
std::vector<Neighbour> neighbours(const Kernel& kernel, const LaunchConfigs& configs, const Configuration& here,
                                  const LaunchConfig& now, const Hardware& hardware, Model model) {
  std::vector<Neighbour> all;
  const auto& diagram = kernel.derivation->scratch;
  const auto divisors = core_divisors(configs.mainloop(), hardware, Fineness::lines);
  for (std::size_t i = 0; i < kernel.partition.splits.size(); ++i) {
    const auto& split = kernel.partition.splits[i];
    if (split.level != *hardware.core || split.size <= 1) continue;
    const auto known = divisors.find(split.wire);
    const auto divisor = known == divisors.end() ? 1 : known->second;
    for (const auto size : {(split.size - 1) / divisor * divisor, (split.size / divisor + 1) * divisor})
      if (size >= 1 && size <= diagram.size(split.wire).value_or(size))
        if (auto made = neighbour(kernel, i, size, now, here.launch, hardware, model)) all.push_back(std::move(*made));
  }
  return all;
}

}  // namespace

std::optional<Configuration> configure(const Kernel& asked, const KernelCost& cost, const Hardware& hardware,
                                       Model model) {
  const auto kernel = without_idle_labels(asked);
  const auto configs = LaunchConfigs::of(kernel, hardware, model);
  if (!configs) return std::nullopt;
  const auto demand = demand_of(kernel, hardware);
  const auto best = configs->best(demand);
  const auto config = configs->in_full(best, demand);
  auto made = Describing(configs->as(best), hardware, model).run(config);
  made.kept = kept(*configs, best, demand);
  if (config.runs() && cost.ideal_time_s)
    made.launch = configs->launch(config, demand, *cost.ideal_time_s, Detail::columns);
  made.neighbours = neighbours(kernel, *configs, made, config, hardware, model);
  return made;
}

}  // namespace napkin
