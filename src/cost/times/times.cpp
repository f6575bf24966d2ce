// Turns bytes and operations into seconds, for the ideal machine of the paper and for a first model of a real one.
//
// Ideal: every level and unit runs at its datasheet rate, and all overlap; the time is that of the slowest. Machine:
// rates are sustained ones; blocks run in whole rounds over the cores, the last one incomplete; repeated reads come
// from a cache if there is one and they fit; the cores wait for the first tiles and the last outputs; every iteration
// of a loop above the innermost level waits once for the innermost memory, together with the other blocks that its core
// holds; and there is one launch.
#include "cost/times/times.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "cost/times/bandwidths.hpp"
#include "hardware/assumptions.hpp"

namespace napkin {
namespace {

using Seconds = std::optional<double>;

// Returns the time of the slowest level or unit. Kinds of work on one unit wait for each other.
Seconds slowest(const std::vector<Seconds>& levels, const std::vector<Work>& work, const std::vector<Seconds>& times) {
  std::array<double, 3> units{};
  Seconds most;
  const auto consider = [&](double time) { most = std::max(most.value_or(0), time); };
  for (std::size_t i = 0; i < work.size(); ++i)
    if (times[i]) consider(units[static_cast<std::size_t>(work[i].unit)] += *times[i]);
  for (const auto& time : levels)
    if (time) consider(*time);
  return most;
}

// Returns the number of waves on the busiest core, which holds `most` blocks at a time, or fewer if its memory has no
// room for them.
double waves(const Hardware& hardware, const Figures& figures, const BlockSpread& spread, double most) {
  const auto core = hardware.core.value_or(1);
  const auto& capacity = hardware.levels[core].capacity;
  const auto held = static_cast<double>(figures.levels[core].memory_bytes);
  const double fit = capacity && held > 0 ? std::floor(capacity->value / held) : most;
  return spread.turns * std::ceil(spread.per_core / std::clamp(fit, 1.0, most));
}

// A block lasts at least until its loads have arrived. As many blocks load at once as a core holds.
double arrival(const Hardware& hardware, const Figures& figures, const BlockSpread& spread) {
  const auto& latency = hardware.levels[hardware.core.value_or(1)].latency_clocks;
  const auto* fma = hardware.find(Unit::fma);
  const auto& most = hardware.limits.blocks_per_sm;
  if (!most || !latency || !fma || !fma->clock_hz) return 0;
  return waves(hardware, figures, spread, most->value) * latency->value / fma->clock_hz->value;
}

// Returns the iterations that a core waits for, one after another. Blocks of one wave wait together.
double iterations(const Hardware& hardware, const Figures& figures, const BlockSpread& spread) {
  const auto& at = figures.levels[hardware.core.value_or(1)];
  return figures.steps / static_cast<double>(at.groups) *
         waves(hardware, figures, spread, blocks_together(hardware.limits));
}

// Returns the time in which iterations wait for the innermost memory.
double waits(const Hardware& hardware, const Figures& figures, const BlockSpread& spread) {
  const auto& latency = hardware.levels.back().latency_clocks;
  const auto* fma = hardware.find(Unit::fma);
  if (!latency || !fma || !fma->clock_hz) return 0;
  return iterations(hardware, figures, spread) * latency->value / fma->clock_hz->value;
}

// Returns the time that the first tiles and the last outputs of the cores take.
double ends(const Hardware& hardware, const Figures& figures) {
  const auto core = hardware.core.value_or(1);
  const auto& at = figures.levels[core];
  const auto cores = std::min(static_cast<double>(hardware.total(core)), static_cast<double>(at.groups));
  const double bytes = static_cast<double>(at.ideal_memory_bytes) * cores;
  return seconds_at(bytes, bandwidth_of(hardware.levels[core]), &Rate::reached).value_or(0);
}

// The cores wait for their first tiles, in iterations, and for their last outputs to leave. Meanwhile the memory that
// fills them works for other blocks. A kernel that this memory bounds hides these waits, but for the share `unhidden`.
Seconds of_machine(const CostModel& model, const Figures& figures, Times& all) {
  const auto& hardware = *model.hardware;
  const auto core = hardware.core.value_or(1);
  const auto memory = all.levels[core];
  if (memory) all.levels[core] = arrival(hardware, figures, all.spread);
  const auto most = slowest(all.levels, model.work, all.work);
  if (memory) all.levels[core] = std::max(memory, all.levels[core]);
  if (!most) return {};
  const double waiting = ends(hardware, figures) + waits(hardware, figures, all.spread);
  const double moved = memory.value_or(0);
  const double busy = std::max(*most + waiting, moved + unhidden(hardware.limits) * waiting);
  return busy + (hardware.limits.launch_seconds ? hardware.limits.launch_seconds->value : 0);
}

}  // namespace

void find_times(const CostModel& model, const Figures& figures, Times& all) {
  const auto& levels = model.hardware->levels;
  spread_blocks(*model.hardware, figures, all.spread);
  all.ideal_levels.assign(levels.size(), {});
  all.levels.assign(levels.size(), {});
  all.ideal_work.clear(), all.work.clear();
  for (std::size_t level = 1; level < levels.size(); ++level) {
    all.ideal_levels[level] = seconds_at(moved_bytes(model, level, figures), bandwidth_of(levels[level]), &Rate::peak);
    all.levels[level] = sustained(model, level, figures, all.spread).slower();
  }
  for (std::size_t i = 0; i < model.work.size(); ++i) {
    all.ideal_work.push_back(seconds_at(figures.operations[i], model.rates[i], &Rate::peak));
    all.work.push_back(seconds_at(figures.operations[i] / all.spread.busy, model.rates[i], &Rate::reached));
  }
  all.ideal = slowest(all.ideal_levels, model.work, all.ideal_work);
  all.machine = of_machine(model, figures, all);
}

}  // namespace napkin
