// Turns bytes and operations into seconds, for the ideal machine of the paper and for a first model of a real one.
//
// Ideal: every level and unit runs at its datasheet rate, and all overlap; the time is that of the slowest. Machine:
// rates are sustained ones; blocks run in whole rounds over the cores, the last one incomplete; repeated reads come
// from a cache if there is one and they fit; the cores wait for the first tiles and the last outputs; every iteration
// of a loop above the innermost level waits once for the innermost memory, together with the other blocks that its core
// holds; and there is one launch.
#include <algorithm>
#include <array>
#include <cmath>

#include "cost/model.hpp"
#include "hardware/assumptions.hpp"

namespace napkin {
namespace {

using Seconds = std::optional<double>;

Seconds over(double amount, const Rate* rate, double (Rate::*kind)() const) {
  if (!rate) return {};
  const double value = (rate->*kind)();
  return value > 0 ? Seconds(amount / value) : Seconds();
}
const Rate* rate_of(const std::optional<Rate>& rate) { return rate ? &*rate : nullptr; }

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

}  // namespace

bool CostModel::has_siblings(std::size_t level) const { return level > 0 && hardware_->levels[level - 1].together; }

double CostModel::crossing_or_moved(std::size_t level, const Figures& figures) const {
  const auto& at = figures.levels[level];
  return static_cast<double>(has_siblings(level) ? at.crossing_bytes : at.transfer_bytes);
}

double CostModel::crossing_or_sectors(std::size_t level, const Figures& figures) const {
  return has_siblings(level) ? crossing_or_moved(level, figures) : figures.levels[level].sector_bytes;
}

// Returns the bytes that must enter or leave a level once: the kernel's own arrays and, if there are several memories
// above, what each of these holds.
double CostModel::must_move(std::size_t level, const Figures& figures) const {
  return static_cast<double>(std::max(compulsory_bytes_, level > 1 ? figures.levels[level - 1].transfer_bytes : 0));
}

// Distributes pieces round-robin to children, level by level. The busiest child of each level decides the time. A
// memory holds one piece at a time, so that its children divide one piece after the other.
void CostModel::share_out(const Figures& figures, Times& times) const {
  const auto core = hardware_->core.value_or(1);
  times.busy_level.assign(core + 1, 1);
  times.rounds = 1;
  for (std::size_t level = 1; level <= core; ++level) {
    const auto& at = figures.levels[level];
    times.turns = times.rounds;
    times.per_core = static_cast<double>(at.groups_per_parent) / static_cast<double>(hardware_->levels[level].count);
    times.rounds *= std::ceil(times.per_core);
    times.busy_level[level] =
        static_cast<double>(at.groups) / (times.rounds * static_cast<double>(hardware_->total(level)));
  }
  times.busy = times.busy_level[core];
  // Every core has something to load as soon as each has had a block.
  times.busy_level[core] = times.busy_level[core - 1] * std::min(1.0, times.per_core);
}

// Returns the bytes that come from the cache. Repeated reads do, as far as their data fits in the caches of the
// `memories` above that are at work.
double CostModel::from_cache(std::size_t level, const Figures& figures, double memories) const {
  const auto* cache = caches_[level];
  if (!cache) return 0;
  const auto once = must_move(level, figures);
  const double room =
      memories * cache->capacity.value * (cache->effective_fraction ? cache->effective_fraction->value : 1);
  return std::max(0.0, crossing_or_sectors(level, figures) - once) * std::min(1.0, room / std::max(1.0, once));
}

// Bytes that the cache serves do not come from memory. Children without a block leave their share of the memory
// bandwidth to the others, but each child uses at most its own share of the cache bandwidth.
CostModel::Sustained CostModel::sustained(std::size_t level, const Figures& figures, const Times& times) const {
  const auto* memory = rate_of(hardware_->levels[level].bandwidth);
  const auto* cache = caches_[level];
  const auto core = hardware_->core.value_or(1);
  const double busy = level > core ? times.busy : times.busy_level[level];
  const auto bytes = crossing_or_sectors(level, figures);
  if (!cache || !cache->bandwidth) return {over(bytes / busy, memory, &Rate::reached), {}};
  const double parents = level > core ? 1 : times.busy_level[level - 1];
  const double memories = level > core ? 1 : parents * static_cast<double>(hardware_->total(level - 1));
  const auto missed = bytes - from_cache(level, figures, memories);
  return {over(missed / (level > core ? busy : parents), memory, &Rate::reached),
          over(bytes / busy, &*cache->bandwidth, &Rate::reached)};
}

void CostModel::times(const Figures& figures, Times& all) const {
  share_out(figures, all);
  all.ideal_levels.assign(hardware_->levels.size(), {});
  all.levels.assign(hardware_->levels.size(), {});
  all.ideal_work.clear(), all.work.clear();
  for (std::size_t level = 1; level < hardware_->levels.size(); ++level) {
    all.ideal_levels[level] =
        over(crossing_or_moved(level, figures), rate_of(hardware_->levels[level].bandwidth), &Rate::peak);
    all.levels[level] = sustained(level, figures, all).slower();
  }
  for (std::size_t i = 0; i < work_.size(); ++i) {
    all.ideal_work.push_back(over(figures.operations[i], rates_[i], &Rate::peak));
    all.work.push_back(over(figures.operations[i] / all.busy, rates_[i], &Rate::reached));
  }
  all.ideal = slowest(all.ideal_levels, work_, all.ideal_work);
  all.machine = machine(figures, all);
}

// Returns the number of waves on the busiest core, which holds `most` blocks at a time, or fewer if its memory has no
// room for them.
double CostModel::waves(const Figures& figures, const Times& times, double most) const {
  const auto core = hardware_->core.value_or(1);
  const auto& capacity = hardware_->levels[core].capacity;
  const auto held = static_cast<double>(figures.levels[core].memory_bytes);
  const double fit = capacity && held > 0 ? std::floor(capacity->value / held) : most;
  return times.turns * std::ceil(times.per_core / std::clamp(fit, 1.0, most));
}

// A block lasts at least until its loads have arrived. As many blocks load at once as a core holds.
double CostModel::arrival(const Figures& figures, const Times& times) const {
  const auto& latency = hardware_->levels[hardware_->core.value_or(1)].latency_clocks;
  const auto* fma = hardware_->find(Unit::fma);
  const auto& most = hardware_->limits.blocks_per_sm;
  if (!most || !latency || !fma || !fma->clock_hz) return 0;
  return waves(figures, times, most->value) * latency->value / fma->clock_hz->value;
}

// Returns the iterations that a core waits for, one after another. Blocks of one wave wait together.
double CostModel::iterations(const Figures& figures, const Times& times) const {
  const auto& at = figures.levels[hardware_->core.value_or(1)];
  return figures.steps / static_cast<double>(at.groups) * waves(figures, times, blocks_together(hardware_->limits));
}

// Returns the time that the first tiles and the last outputs of the cores take.
double CostModel::ends(const Figures& figures) const {
  const auto core = hardware_->core.value_or(1);
  const auto& at = figures.levels[core];
  const auto cores = std::min(static_cast<double>(hardware_->total(core)), static_cast<double>(at.groups));
  const double bytes = static_cast<double>(at.ideal_memory_bytes) * cores;
  return over(bytes, rate_of(hardware_->levels[core].bandwidth), &Rate::reached).value_or(0);
}

// The cores wait for their first tiles, in iterations, and for their last outputs to leave. Meanwhile the memory that
// fills them works for other blocks. A kernel that this memory bounds hides these waits, but for the share `unhidden`.
Seconds CostModel::machine(const Figures& figures, Times& all) const {
  const auto core = hardware_->core.value_or(1);
  const auto memory = all.levels[core];
  if (memory) all.levels[core] = arrival(figures, all);
  const auto most = slowest(all.levels, work_, all.work);
  if (memory) all.levels[core] = std::max(memory, all.levels[core]);
  if (!most) return {};
  const double waiting = ends(figures) + waits(figures, all), moved = memory.value_or(0);
  const double busy = std::max(*most + waiting, moved + unhidden(hardware_->limits) * waiting);
  return busy + (hardware_->limits.launch_seconds ? hardware_->limits.launch_seconds->value : 0);
}

// Returns the time in which iterations wait for the innermost memory.
double CostModel::waits(const Figures& figures, const Times& times) const {
  const auto& latency = hardware_->levels.back().latency_clocks;
  const auto* fma = hardware_->find(Unit::fma);
  if (!latency || !fma || !fma->clock_hz) return 0;
  return iterations(figures, times) * latency->value / fma->clock_hz->value;
}

Demand CostModel::demand(const Figures& figures) const {
  Demand made;
  std::array<double, 3> ideal{}, reached{};
  for (std::size_t i = 0; i < work_.size(); ++i) {
    const auto unit = static_cast<std::size_t>(work_[i].unit);
    ideal[unit] += over(figures.operations[i], rates_[i], &Rate::peak).value_or(0);
    reached[unit] += over(figures.operations[i], rates_[i], &Rate::reached).value_or(0);
    if (work_[i].unit == Unit::tensor) made.tensor_operations += figures.operations[i];
  }
  made.units_ideal_s = *std::ranges::max_element(ideal);
  made.units_s = *std::ranges::max_element(reached);
  const auto core = hardware_->core.value_or(1);
  Times times;
  share_out(figures, times);
  made.blocks = figures.levels[core].groups;
  made.turns = times.turns, made.per_core = times.per_core;
  made.compulsory_bytes = must_move(core, figures) / times.busy_level[core - 1];
  made.masked = !masks_.empty();
  // A comparison occupies the slot of a multiply-add.
  const auto* lanes = hardware_->find(Unit::fma);
  if (figures.masks > 0 && lanes && lanes->rates.contains(Datatype::f32))
    made.masks_s = 2 * figures.masks / lanes->rates.at(Datatype::f32).reached();
  add_outer(made, figures, times);
  return made;
}

Demand CostModel::whole_demand(const Figures& figures) const {
  auto made = demand(figures);
  for (const auto cut : finest_)
    made.whole *= static_cast<double>(figures.counts[cut]) * static_cast<double>(figures.lengths[cut]) /
                  static_cast<double>(wire_sizes_[cuts_[cut].wire.index]);
  return made;
}

void CostModel::add_outer(Demand& demand, const Figures& figures, const Times& times) const {
  for (std::size_t level = 1; level < hardware_->core.value_or(1); ++level) {
    const auto* rate = rate_of(hardware_->levels[level].bandwidth);
    demand.outer_ideal_s =
        std::max(demand.outer_ideal_s, over(crossing_or_moved(level, figures), rate, &Rate::peak).value_or(0));
    const auto seconds = sustained(level, figures, times).slower().value_or(0);
    demand.outer_s = std::max(demand.outer_s, seconds);
    if (!has_siblings(level)) continue;
    const auto& at = figures.levels[level];
    const auto once = over(static_cast<double>(at.crossing_once_bytes), rate, &Rate::reached).value_or(0);
    demand.crossing_once_s = once / times.busy_level[level];
    demand.crossing_s = seconds - demand.crossing_once_s;
    demand.crossing_steps = at.crossing_steps;
  }
}

// Adds up every byte and operation at its own price, bytes that a cache serves at the cache's price, and the power of
// the idle machine during that time.
std::optional<double> CostModel::energy(const Figures& figures, std::optional<double> seconds, std::size_t end) const {
  double joules = 0;
  for (std::size_t level = 1; level < end; ++level) {
    const auto& price = hardware_->levels[level].energy_per_byte;
    if (!price) return {};
    const auto* cache = caches_[level];
    const double answered = cache && cache->energy_per_byte
                                ? from_cache(level, figures, static_cast<double>(hardware_->total(level - 1)))
                                : 0;
    joules += (crossing_or_sectors(level, figures) - answered) * price->value;
    if (answered > 0) joules += answered * cache->energy_per_byte->value;
  }
  for (std::size_t i = 0; i < work_.size(); ++i) {
    const auto* unit = hardware_->find(work_[i].unit);
    if (!unit) continue;
    const auto price = unit->energy.find(work_[i].type);
    if (price != unit->energy.end()) joules += figures.operations[i] * price->second.value;
  }
  if (hardware_->idle_watts && seconds) joules += hardware_->idle_watts->value * *seconds;
  return joules;
}

}  // namespace napkin
