// Turns the figures of a model into a cost: names, capacities, overruns and the bound.
#include <algorithm>
#include <cmath>
#include <map>

#include "cost/bound.hpp"
#include "cost/model.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

double used(const Level& level, const Figures::At& at, Model model) {
  const bool ideal = model == Model::ideal;
  if (level.in_values) return static_cast<double>(ideal ? at.ideal_memory_values : at.memory_values);
  return static_cast<double>(ideal ? at.ideal_memory_bytes : at.memory_bytes);
}

double used_by_all(const Level& level, const Figures::At& at, Model model) {
  const bool ideal = model == Model::ideal;
  if (level.in_values) return static_cast<double>(ideal ? at.ideal_fullest_values : at.fullest_values);
  return static_cast<double>(ideal ? at.ideal_fullest_bytes : at.fullest_bytes);
}

std::int64_t units_for(double held, double room) { return held > room ? std::llround(std::ceil(held / room)) : 1; }

}  // namespace

bool CostModel::fits(const Figures& figures, Model model, std::size_t end) const {
  if (figures.overflow || outermost_ > hardware_->levels[0].room()) return false;
  for (std::size_t i = 1; i < hardware_->levels.size(); ++i) {
    const auto& level = hardware_->levels[i];
    const auto& at = figures.levels[i];
    if (level.max_groups && at.groups_per_parent > *level.max_groups) return false;
    if (i >= end) continue;
    if (used(level, at, model) > room(i, at.groups_per_parent)) return false;
    if (used_by_all(level, at, model) > room_of_all(i)) return false;
  }
  return true;
}

std::vector<Overrun> CostModel::overruns(std::span<const std::int64_t> sizes, const Figures& figures,
                                         Model model) const {
  std::vector<Overrun> all;
  if (const auto room = hardware_->levels[0].room(); outermost_ > room)
    all.push_back({0, outermost_ - room, "", "memory of all arrays"});
  for (std::size_t i = 1; i < hardware_->levels.size(); ++i) {
    const auto& level = hardware_->levels[i];
    const auto& at = figures.levels[i];
    const double one = used(level, at, model), together = used_by_all(level, at, model);
    const auto largest = [&] {
      const auto held = held_at(sizes, i);
      return held.empty() ? std::string() : held[0].array;
    };
    if (const auto room = this->room(i, at.groups_per_parent); one > room)
      all.push_back({i, one - room, largest(), "memory"});
    else if (const auto room_of_all = this->room_of_all(i); together > room_of_all)
      all.push_back({i, together - room_of_all, largest(), "memory of all groups"});
    if (level.max_groups && at.groups_per_parent > *level.max_groups)
      all.push_back({i, static_cast<double>(at.groups_per_parent - *level.max_groups), "", "groups"});
  }
  return all;
}

// Returns what a memory holds at its fullest instant, the largest array first. If groups share the memory, the result
// is the part of one group.
std::vector<HeldArray> CostModel::held_at(std::span<const std::int64_t> sizes, std::size_t level) const {
  Figures figures;
  this->figures(sizes, figures);
  instances(level, figures);
  const auto parts = parts_of(level, figures);
  for (auto& count : figures.instances) count /= parts;
  const auto bytes_of = [&](std::size_t i) { return figures.holdings[i] * holdings_[i].bytes; };
  std::vector<HeldArray> best;
  std::int64_t most = -1;
  const auto consider = [&](const Instant& instant) {
    std::map<std::size_t, std::int64_t> times;
    for (const auto i : instant.at_work.held) times[i] += figures.instances[0];
    for (const auto& [outer, before, after] : instant.waiting) {
      std::int64_t first = 0, last = 0;
      for (const auto i : before) first += bytes_of(i);
      for (const auto i : after) last += bytes_of(i);
      for (const auto i : first > last ? before : after) times[i] += figures.instances[outer];
    }
    std::vector<HeldArray> held;
    std::int64_t bytes = 0;
    for (const auto& [i, count] : times) {
      const auto& one = holdings_[i];
      held.push_back({one.name, figures.holdings[i] * count, bytes_of(i) * count, one.type, one.stored});
      bytes += held.back().bytes;
    }
    for (const auto& [a, b] : instant.at_work.shared) bytes -= std::min(bytes_of(a), bytes_of(b));
    if (bytes > most) most = bytes, best = std::move(held);
  };
  const auto below = turns_below(level, figures);
  for (const auto& instant : instants_[level])
    if (instant.turns == below) consider(instant);
  if (instants_[level].empty())
    for (const auto& column : columns_)
      if (column.level == level) consider({column, 0, {}});
  std::ranges::stable_sort(best, [](const HeldArray& a, const HeldArray& b) { return a.bytes > b.bytes; });
  return best;
}

// Returns into how many parts a memory is divided: one per group if all children of a parent share the memory.
std::int64_t CostModel::parts_of(std::size_t level, const Figures& figures) const {
  return hardware_->levels[level].shared ? figures.levels[level].groups_per_parent : 1;
}

std::vector<ArrayCost> CostModel::array_costs(const Diagram& diagram, const Figures& figures, std::size_t level) const {
  bool unused = false;
  std::vector<ArrayCost> all;
  std::map<std::pair<ArrayId, bool>, std::size_t> index;
  for (const auto& transfer : transfers_) {
    if (transfer.level != level) continue;
    const auto [at, fresh] = index.try_emplace({transfer.array, transfer.saved}, all.size());
    if (fresh) all.push_back({diagram.at(transfer.array).name, 0, 0, 0, transfer.saved, transfer.type});
    const auto values = product(transfer.values, figures, unused);
    all[at->second].transfer_values += values;
    all[at->second].transfer_bytes += transfer.bytes_of(values);
  }
  for (const auto& [key, at] : index) {
    std::vector<std::int64_t> sizes;
    for (const auto wire : diagram.at(key.first).wires) sizes.push_back(wire_sizes_[wire.index]);
    all[at].times = static_cast<double>(all[at].transfer_values) / static_cast<double>(product_of(sizes));
  }
  return all;
}

KernelCost CostModel::cost(const Kernel& kernel, std::span<const std::int64_t> sizes, Model model) const {
  Figures figures;
  this->figures(sizes, figures);
  Times times;
  this->times(figures, times);
  KernelCost cost;
  for (std::size_t i = 1; i < hardware_->levels.size(); ++i) {
    const auto& at = figures.levels[i];
    LevelCost level{
        .level = i,
        .transfer_values = at.transfer_values,
        .transfer_bytes = at.transfer_bytes,
        .crossing_bytes = has_siblings(i) ? std::optional(at.crossing_bytes) : std::nullopt,
        .sector_bytes = hardware_->levels[i].sector ? std::optional(std::llround(at.sector_bytes)) : std::nullopt,
        .memory_values = at.fullest_values / parts_of(i, figures),
        .memory_bytes = at.fullest_bytes / parts_of(i, figures),
        .ideal_memory_values = at.ideal_fullest_values / parts_of(i, figures),
        .ideal_memory_bytes = at.ideal_fullest_bytes / parts_of(i, figures),
        .capacity = {},
        .groups = at.groups,
        .groups_per_parent = at.groups_per_parent,
        .ideal_time_s = times.ideal_levels[i],
        .time_s = times.levels[i],
        .arrays = array_costs(kernel.program.scratch, figures, i),
        .held = held_at(sizes, i)};
    if (hardware_->levels[i].capacity || hardware_->levels[i].usable) {
      const double one = hardware_->levels[i].room(), most = room(i, at.groups_per_parent);
      level.together = units_for(std::min(used(hardware_->levels[i], at, model), most), one);
      level.capacity = std::min(one * static_cast<double>(level.together), std::max(one, most));
      // Groups that wait keep what they hold, in addition to what one group may use.
      if (hardware_->levels[i].shared && at.fullest_bytes / parts_of(i, figures) > at.memory_bytes)
        level.capacity = std::max(*level.capacity, room_of_all(i) / static_cast<double>(at.groups_per_parent));
    }
    cost.levels.push_back(std::move(level));
  }
  name_units(cost, figures, times, model);
  cost.masks = masks(kernel.program.scratch, figures);
  name_bound(cost, figures, times, model);
  cost.closed_form = closed_form(*this, kernel, *hardware_, model);
  cost.compulsory_bytes = compulsory_bytes_;
  cost.every_program = lower_bound(*kernel.derivation, *hardware_);
  cost.ideal_time_s = times.ideal;
  cost.time_s = times.machine;
  cost.energy_j = energy(figures, times.machine, hardware_->levels.size());
  cost.overruns = overruns(sizes, figures, model);
  cost.overflow = figures.overflow;
  return cost;
}

// In the ideal model, too, only the cores that have a block work.
void CostModel::name_units(KernelCost& cost, const Figures& figures, const Times& times, Model model) const {
  const auto add = [](std::optional<double>& sum, const std::optional<double>& more) {
    if (more) sum = sum.value_or(0) + *more;
  };
  std::map<Unit, UnitCost> units;
  for (std::size_t i = 0; i < work_.size(); ++i) {
    auto& unit = units.try_emplace(work_[i].unit, UnitCost{work_[i].unit, 0, {}, {}, 0}).first->second;
    unit.operations += figures.operations[i];
    unit.asked += figures.operations[i] / work_[i].parts;
    add(unit.ideal_time_s, times.ideal_work[i]);
    const auto& ideal = times.ideal_work[i];
    const auto at_peak = ideal ? std::optional(*ideal / times.busy) : ideal;
    add(unit.time_s, model == Model::ideal ? at_peak : times.work[i]);
  }
  for (auto& [unit, all] : units) cost.units.push_back(all);
}

void CostModel::name_bound(KernelCost& cost, const Figures& figures, const Times& times, Model model) const {
  double most = 0;
  const auto consider = [&](const std::optional<double>& ideal, const std::optional<double>& machine,
                            const std::string& name, const std::string& from) {
    const auto& time = model == Model::ideal ? ideal : machine;
    if (time && *time > most) most = *time, cost.bound_by = name, cost.bound_from = from;
  };
  for (const auto& level : cost.levels) {
    const bool by_cache = model == Model::machine && sustained(level.level, figures, times).by_cache();
    consider(level.ideal_time_s, level.time_s, hardware_->levels[level.level].name,
             by_cache ? caches_[level.level]->name : hardware_->levels[level.level - 1].name);
  }
  for (const auto& unit : cost.units) consider(unit.ideal_time_s, unit.time_s, std::string(name(unit.unit)), "");
}

KernelCost estimate(const Kernel& kernel, const Hardware& hardware, Model model) {
  std::vector<std::int64_t> sizes;
  for (const auto& split : kernel.partition.splits) sizes.push_back(split.size);
  return CostModel(kernel, hardware).cost(kernel, sizes, model);
}

Cost estimate(const Plan& plan, const Hardware& hardware, Model model) {
  std::vector<KernelCost> kernels;
  for (const auto& kernel : plan.kernels) kernels.push_back(estimate(kernel, hardware, model));
  return total(std::move(kernels));
}

Cost total(std::vector<KernelCost> kernels) {
  Cost all;
  const auto add = [](std::optional<double>& sum, const std::optional<double>& more, bool first) {
    sum = (first || sum) && more ? std::optional(sum.value_or(0) + *more) : std::nullopt;
  };
  bool first = true;
  for (const auto& cost : kernels) {
    for (const auto& unit : cost.units) all.operations += unit.operations;
    add(all.ideal_time_s, cost.ideal_time_s, first);
    add(all.time_s, cost.time_s, first);
    add(all.energy_j, cost.energy_j, first);
    first = false;
  }
  all.kernels = std::move(kernels);
  return all;
}

}  // namespace napkin
