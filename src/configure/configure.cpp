// A kernel of a partition -> how its blocks run on a core. docs/theory.md, configuration.
#include "napkin/configure.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "configure/timeline.hpp"
#include "text/quantity.hpp"
#include "timing/cluster.hpp"
#include "timing/deal.hpp"
#include "timing/divisors.hpp"
#include "timing/labels.hpp"
#include "timing/occupancy.hpp"
#include "timing/raster.hpp"

namespace napkin {
namespace {

class Describing {
 public:
  Describing(const Dealing& dealing, const Hardware& hardware, Model model)
      : dealing_(dealing), step_(dealing.step()), hardware_(hardware), model_(model) {}

  Configuration run(const Deal& deal) const {
    Configuration made;
    const auto& shape = *first_contraction(step_).instruction;
    const auto& variables = dealing_.variables();
    made.instruction = fmt::format("{} m{}n{}k{}", shape.name, shape.m, shape.n, shape.k);
    made.row_axis = step_.diagram().at(step_.row).name;
    made.rows = step_.lengths[step_.row.index];
    made.team_rows = deal.team.rows, made.team_warps = deal.team.warps, made.teams = deal.team.teams;
    made.subloops = variables.subloops();
    made.divisors = divisors_of(step_, hardware_, deal.team.warps);
    made.pipelinings = deal.pipelinings;
    made.chosen = deal.fastest;
    for (auto& pipelining : made.pipelinings) {
      pipelining.occupancy.ladder = register_ladder(hardware_);
      pipelining.timeline = timeline(step_, deal.clocks, pipelining.overlap);
    }
    made.columns = variables.registers(deal.team, deal.chosen().overlap == Overlap::within_team);
    made.variables = variables.shared(deal.team, deal.chosen().stages);
    for (const auto& variable : made.variables)
      (variable.by_team ? made.shared_team_bytes : made.shared_block_bytes) += variable.bytes;
    made.clocks = deal.clocks.columns;
    made.resources = resources(deal.clocks);
    made.bound = deal.clocks.slowest;
    made.bandwidth = check(deal);
    made.clusters = clusters(step_, hardware_, model_, dealing_.has_cache());
    if (dealing_.has_cache()) made.rasters = rasters(step_, hardware_);
    return made;
  }

 private:
  // Those in use.
  static std::vector<ResourceClocks> resources(const StepClocks& clocks) {
    std::vector<ResourceClocks> all;
    for (const auto& resource : clocks.resources) {
      if (resource.clocks <= 0 && resource.seconds <= 0) continue;
      all.push_back(resource);
      all.back().slack = clocks.bound > 0 ? 1 - resource.seconds / clocks.bound : 0;
    }
    return all;
  }

  // All teams that fit by bytes share what a step loads once for all rows.
  std::optional<BandwidthCheck> check(const Deal& deal) const {
    const auto teams = deal.chosen().occupancy.teams;
    if (teams < 1 || deal.clocks.bound <= 0) return std::nullopt;
    const auto rows = static_cast<double>(step_.lengths[step_.row.index]);
    double by_row = 0, shared = 0;
    const auto neighbours = fastest_neighbours(step_, hardware_, model_, dealing_.has_cache());
    for (const auto id : step_.streamed) {
      const auto seconds = way_in(step_, id, neighbours, hardware_, model_, dealing_.has_cache()).seconds();
      (step_.has_row(id) ? by_row : shared) += step_.has_row(id) ? seconds / rows : seconds;
    }
    BandwidthCheck made;
    made.rows = teams * deal.team.rows;
    double compute = 0;
    for (const auto& resource : deal.clocks.resources)
      if (resource.on != Resource::copy) compute = std::max(compute, resource.seconds / rows);
    made.step_s = compute * static_cast<double>(made.rows);
    made.transfer_s = shared + by_row * static_cast<double>(made.rows);
    if (compute > by_row) made.least_rows = shared / (compute - by_row);
    const auto cores = static_cast<double>(hardware_.total(step_.core));
    made.operations_per_s = deal.clocks.operations / rows / compute * cores;
    return made;
  }

  const Dealing& dealing_;
  const BlockStep& step_;
  const Hardware& hardware_;
  Model model_;
};

// Why memories down to the cores do not hold a partition; empty where they do. Registers are for its launch to say.
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

// Why no block of a tile runs, in a few words; empty where one does.
std::string why_not(const Kernel& kernel, const Dealing& dealing, const Deal& deal, const Hardware& hardware,
                    Model model) {
  auto why = why_no_room(kernel, hardware, model);
  if (!why.empty() || deal.runs()) return why;
  if (const auto excess = dealing.step().excess()) return std::string(excess->of);
  return why_no_block(dealing, deal);
}

// Of the launch, where the machine has one; else of the step, for each operation.
std::optional<Neighbour> neighbour(const Kernel& kernel, std::size_t split, std::int64_t size, const Deal& now,
                                   const std::optional<Launch>& launch, const Hardware& hardware, Model model) {
  auto partition = kernel.partition;
  partition.splits[split].size = size;
  const auto changed = without_idle_labels(make_kernel(kernel.derivation, partition));
  const auto dealing = Dealing::of(changed, hardware, model);
  if (!dealing) return std::nullopt;
  const auto demand = demand_of(changed, hardware);
  const auto deal = dealing->best(demand);
  const auto why = why_not(changed, *dealing, deal, hardware, model);
  Neighbour made{dealing->step().diagram().at(partition.splits[split].wire).name,
                 size,
                 why.empty(),
                 deal.chosen().overlap,
                 deal.clocks.slowest,
                 0,
                 {},
                 why};
  made.times_as_fast = now.seconds_per_operation() / deal.seconds_per_operation();
  if (!launch || !made.runs) return made;
  made.time_s = dealing->launch(deal, demand, 0).time_s;
  return made;
}

// The next smaller and the next larger piece of every split of the core, whichever wire the teams' rows are along.
std::vector<Neighbour> neighbours(const Kernel& kernel, const Dealing& dealing, const Configuration& here,
                                  const Deal& now, const Hardware& hardware, Model model) {
  std::vector<Neighbour> all;
  const auto& diagram = kernel.derivation->scratch;
  const auto divisors = core_divisors(dealing.step(), hardware, Fineness::lines);
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
  const auto dealing = Dealing::of(kernel, hardware, model);
  if (!dealing) return std::nullopt;
  const auto demand = demand_of(kernel, hardware);
  const auto best = dealing->best(demand);
  const auto deal = dealing->in_full(best, demand);
  auto made = Describing(dealing->as(best), hardware, model).run(deal);
  made.kept = kept(*dealing, best, demand);
  if (deal.runs() && cost.ideal_time_s)
    made.launch = dealing->launch(deal, demand, *cost.ideal_time_s, Detail::columns);
  made.neighbours = neighbours(kernel, *dealing, made, deal, hardware, model);
  return made;
}

}  // namespace napkin
