// Adds up the demand of a launch on units, on the levels above the cores, and between siblings.
#include "cost/times/demand.hpp"

#include <algorithm>
#include <array>

#include "cost/times/bandwidths.hpp"

namespace napkin {
namespace {

void add_units(const CostModel& model, const Figures& figures, Demand& made) {
  std::array<double, 3> ideal{}, reached{};
  for (std::size_t i = 0; i < model.work.size(); ++i) {
    const auto unit = static_cast<std::size_t>(model.work[i].unit);
    ideal[unit] += seconds_at(figures.operations[i], model.rates[i], &Rate::peak).value_or(0);
    reached[unit] += seconds_at(figures.operations[i], model.rates[i], &Rate::reached).value_or(0);
    if (model.work[i].unit == Unit::tensor) made.tensor_operations += figures.operations[i];
  }
  made.units_ideal_s = *std::ranges::max_element(ideal);
  made.units_s = *std::ranges::max_element(reached);
}

// A comparison occupies the slot of a multiply-add.
void add_masks(const CostModel& model, const Figures& figures, Demand& made) {
  made.masked = !model.masks.empty();
  const auto* lanes = model.hardware->find(Unit::fma);
  if (figures.masks > 0 && lanes && lanes->rates.contains(Datatype::f32))
    made.masks_s = 2 * figures.masks / lanes->rates.at(Datatype::f32).reached();
}

void add_outer(const CostModel& model, const Figures& figures, const BlockSpread& spread, Demand& made) {
  for (std::size_t level = 1; level < model.hardware->core.value_or(1); ++level) {
    const auto* rate = bandwidth_of(model.hardware->levels[level]);
    made.outer_ideal_s =
        std::max(made.outer_ideal_s, seconds_at(moved_bytes(model, level, figures), rate, &Rate::peak).value_or(0));
    const auto seconds = sustained(model, level, figures, spread).slower().value_or(0);
    made.outer_s = std::max(made.outer_s, seconds);
    if (!has_siblings(model, level)) continue;
    const auto& at = figures.levels[level];
    const auto once = seconds_at(static_cast<double>(at.crossing_once_bytes), rate, &Rate::reached).value_or(0);
    made.crossing_once_s = once / spread.busy_level[level];
    made.crossing_s = seconds - made.crossing_once_s;
    made.crossing_steps = at.crossing_steps;
  }
}

}  // namespace

Demand demand_of(const CostModel& model, const Figures& figures) {
  const auto core = model.hardware->core.value_or(1);
  BlockSpread spread;
  spread_blocks(*model.hardware, figures, spread);
  Demand made;
  made.blocks = figures.levels[core].groups;
  made.turns = spread.turns, made.per_core = spread.per_core;
  made.compulsory_bytes = must_move(model, core, figures) / spread.busy_level[core - 1];
  add_units(model, figures, made);
  add_masks(model, figures, made);
  add_outer(model, figures, spread, made);
  return made;
}

Demand whole_demand_of(const CostModel& model, const Figures& figures) {
  auto made = demand_of(model, figures);
  for (const auto cut : model.finest)
    made.whole *= static_cast<double>(figures.counts[cut]) * static_cast<double>(figures.lengths[cut]) /
                  static_cast<double>(model.wire_sizes[model.cuts[cut].wire.index]);
  return made;
}

}  // namespace napkin
