// Turns the figures and times of a partition into a cost: level by level, unit by unit, mask by mask, and the part of
// the machine that limits the time.
#include "cost/kernel_cost.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "cost/bound.hpp"
#include "cost/closed_form/closed_form.hpp"
#include "cost/figures/evaluate.hpp"
#include "cost/figures/products.hpp"
#include "cost/held_arrays.hpp"
#include "cost/overruns.hpp"
#include "cost/times/bandwidths.hpp"
#include "cost/times/energy.hpp"
#include "cost/times/times.hpp"

namespace napkin {
namespace {

// One partition of a model, evaluated.
struct Evaluated {
  const CostModel& model;
  const Diagram& diagram;
  Model kind;
  Figures figures{};
  Times times{};
};

std::int64_t units_for(double held, double room) { return held > room ? std::llround(std::ceil(held / room)) : 1; }

// If a level has a capacity, sets it to that of the children that hold one piece together.
void add_capacity(LevelCost& level, const Evaluated& all) {
  const auto& memory = all.model.hardware->levels[level.level];
  if (!memory.capacity && !memory.usable) return;
  const auto& rooms = all.model.rooms;
  const auto& at = all.figures.levels[level.level];
  const double one = memory.room(), most = rooms.at(level.level, at.groups_per_parent);
  const auto held = static_cast<double>(held_by_one(memory, at, all.kind));
  level.together = units_for(std::min(held, most), one);
  level.capacity = std::min(one * static_cast<double>(level.together), std::max(one, most));
  // Groups that wait keep what they hold, in addition to what one group may use.
  if (memory.shared && level.memory_bytes > at.memory_bytes)
    level.capacity = std::max(*level.capacity, rooms.of_all[level.level] / static_cast<double>(at.groups_per_parent));
}

LevelCost level_cost(const Evaluated& all, std::size_t level) {
  const auto& model = all.model;
  const auto& at = all.figures.levels[level];
  const auto parts = parts_of(model, level, all.figures);
  const bool has_sectors = model.hardware->levels[level].sector.has_value();
  LevelCost made{.level = level,
                 .transfer_values = at.transfer_values,
                 .transfer_bytes = at.transfer_bytes,
                 .crossing_bytes = has_siblings(model, level) ? std::optional(at.crossing_bytes) : std::nullopt,
                 .sector_bytes = has_sectors ? std::optional(std::llround(at.sector_bytes)) : std::nullopt,
                 .memory_values = at.fullest_values / parts,
                 .memory_bytes = at.fullest_bytes / parts,
                 .ideal_memory_values = at.ideal_fullest_values / parts,
                 .ideal_memory_bytes = at.ideal_fullest_bytes / parts,
                 .capacity = {},
                 .groups = at.groups,
                 .groups_per_parent = at.groups_per_parent,
                 .ideal_time_s = all.times.ideal_levels[level],
                 .time_s = all.times.levels[level],
                 .arrays = moved_arrays(model, all.diagram, all.figures, level),
                 .held = held_arrays(model, all.figures, level)};
  add_capacity(made, all);
  return made;
}

// In the ideal model, too, only the cores that have a block work.
std::vector<UnitCost> unit_costs(const Evaluated& all) {
  const auto add = [](std::optional<double>& sum, const std::optional<double>& more) {
    if (more) sum = sum.value_or(0) + *more;
  };
  std::map<Unit, UnitCost> units;
  for (std::size_t i = 0; i < all.model.work.size(); ++i) {
    const auto& work = all.model.work[i];
    auto& unit = units.try_emplace(work.unit, UnitCost{work.unit, 0, {}, {}, 0}).first->second;
    unit.operations += all.figures.operations[i];
    unit.asked += all.figures.operations[i] / work.parts;
    const auto& ideal = all.times.ideal_work[i];
    add(unit.ideal_time_s, ideal);
    const auto at_peak = ideal ? std::optional(*ideal / all.times.spread.busy) : ideal;
    add(unit.time_s, all.kind == Model::ideal ? at_peak : all.times.work[i]);
  }
  std::vector<UnitCost> made;
  for (const auto& [unit, cost] : units) made.push_back(cost);
  return made;
}

std::vector<MaskCost> mask_costs(const Evaluated& all) {
  std::vector<MaskCost> made;
  bool unused = false;
  for (const auto& mask : all.model.masks) {
    const auto& axis = all.diagram.at(mask.loop.wire).name;
    const auto run = value_of(mask.run, all.figures, unused), pieces = value_of(mask.all, all.figures, unused);
    MaskCost cost{mask.loop.level, axis, mask.asks, run, pieces, !mask.asks.empty()};
    for (const auto& condition : mask.needs) cost.conditions.push_back(to_text(all.diagram, condition));
    made.push_back(std::move(cost));
  }
  return made;
}

void add_bound(KernelCost& cost, const Evaluated& all) {
  const auto& levels = all.model.hardware->levels;
  double most = 0;
  const auto consider = [&](const std::optional<double>& ideal, const std::optional<double>& machine,
                            const std::string& name, const std::string& from) {
    const auto& time = all.kind == Model::ideal ? ideal : machine;
    if (time && *time > most) most = *time, cost.bound_by = name, cost.bound_from = from;
  };
  for (const auto& level : cost.levels) {
    const auto at = level.level;
    const bool by_cache =
        all.kind == Model::machine && sustained(all.model, at, all.figures, all.times.spread).by_cache();
    consider(level.ideal_time_s, level.time_s, levels[at].name,
             by_cache ? all.model.caches[at]->name : levels[at - 1].name);
  }
  for (const auto& unit : cost.units) consider(unit.ideal_time_s, unit.time_s, std::string(name(unit.unit)), "");
}

}  // namespace

KernelCost cost_of(const CostModel& model, const Kernel& kernel, std::span<const std::int64_t> sizes, Model kind) {
  Evaluated all{model, kernel.program.scratch, kind};
  evaluate(model, sizes, all.figures);
  find_times(model, all.figures, all.times);
  const auto& hardware = *model.hardware;
  KernelCost cost;
  for (std::size_t i = 1; i < hardware.levels.size(); ++i) cost.levels.push_back(level_cost(all, i));
  cost.units = unit_costs(all);
  cost.masks = mask_costs(all);
  add_bound(cost, all);
  cost.closed_form = closed_form(model, kernel, hardware, kind);
  cost.compulsory_bytes = model.compulsory_bytes;
  cost.every_program = lower_bound(*kernel.derivation, hardware);
  cost.ideal_time_s = all.times.ideal;
  cost.time_s = all.times.machine;
  cost.energy_j = energy_of(model, all.figures, all.times.machine, hardware.levels.size());
  cost.overruns = overruns(model, all.figures, kind);
  cost.overflow = all.figures.overflow;
  return cost;
}

}  // namespace napkin
