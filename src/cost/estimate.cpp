// Figures to a report: names, capacities, what does not fit, what bounds.
#include <algorithm>
#include <cmath>
#include <map>

#include "cost/bound.hpp"
#include "cost/model.hpp"

namespace napkin {
namespace {

double used(const Level& level, const Figures::At& at, Model model) {
  const bool ideal = model == Model::ideal;
  if (level.in_values) return static_cast<double>(ideal ? at.ideal_memory_values : at.memory_values);
  return static_cast<double>(ideal ? at.ideal_memory_bytes : at.memory_bytes);
}

std::int64_t units_for(double held, double room) { return held > room ? std::llround(std::ceil(held / room)) : 1; }

std::int64_t product_of(const std::vector<std::int64_t>& all) {
  std::int64_t product = 1;
  for (const auto factor : all)
    if (__builtin_mul_overflow(product, factor, &product)) return INT64_MAX;
  return product;
}

}  // namespace

bool CostModel::fits(const Figures& figures, Model model) const {
  if (figures.overflow) return false;
  for (std::size_t i = 1; i < hardware_->levels.size(); ++i) {
    const auto& level = hardware_->levels[i];
    const auto& at = figures.levels[i];
    const double one = used(level, at, model);
    if (one > room(i, at.groups_per_parent)) return false;
    if (level.max_groups && at.groups_per_parent > *level.max_groups) return false;
    if (level.shared && level.capacity && one * static_cast<double>(at.groups_per_parent) > level.capacity->value)
      return false;
  }
  return true;
}

std::vector<Overrun> CostModel::overruns(std::span<const std::int64_t> sizes, const Figures& figures,
                                         Model model) const {
  std::vector<Overrun> all;
  for (std::size_t i = 1; i < hardware_->levels.size(); ++i) {
    const auto& level = hardware_->levels[i];
    const auto& at = figures.levels[i];
    const double one = used(level, at, model), together = one * static_cast<double>(at.groups_per_parent);
    const auto largest = [&] {
      const auto held = held_at(sizes, i);
      return held.empty() ? std::string() : held[0].array;
    };
    if (const auto room = this->room(i, at.groups_per_parent); one > room)
      all.push_back({i, one - room, largest(), "memory"});
    else if (level.shared && level.capacity && together > level.capacity->value)
      all.push_back({i, together - level.capacity->value, largest(), "memory of all groups"});
    if (level.max_groups && at.groups_per_parent > *level.max_groups)
      all.push_back({i, static_cast<double>(at.groups_per_parent - *level.max_groups), "", "groups"});
  }
  return all;
}

// What the column that holds most at a level holds, largest first.
std::vector<HeldArray> CostModel::held_at(std::span<const std::int64_t> sizes, std::size_t level) const {
  Figures figures;
  this->figures(sizes, figures);
  std::vector<HeldArray> best;
  std::int64_t most = -1;
  for (const auto& column : columns_) {
    if (column.level != level) continue;
    std::vector<HeldArray> held;
    std::int64_t bytes = 0;
    for (const auto h : column.held) {
      const auto& one = holdings_[h];
      const auto values = figures.holdings[h];
      held.push_back({one.name, values, values * one.bytes, one.type, one.stored});
      bytes += held.back().bytes;
    }
    for (const auto& [a, b] : column.shared)
      bytes -= std::min(figures.holdings[a] * holdings_[a].bytes, figures.holdings[b] * holdings_[b].bytes);
    if (bytes > most) most = bytes, best = std::move(held);
  }
  std::ranges::stable_sort(best, [](const HeldArray& a, const HeldArray& b) { return a.bytes > b.bytes; });
  return best;
}

std::vector<ArrayCost> CostModel::array_costs(const Diagram& diagram, const Figures& figures, std::size_t level) const {
  bool unused = false;
  std::vector<ArrayCost> all;
  std::map<std::pair<ArrayId, bool>, std::size_t> index;
  for (const auto& transfer : transfers_) {
    if (transfer.level != level) continue;
    const auto [at, fresh] = index.try_emplace({transfer.array, transfer.saved}, all.size());
    if (fresh)
      all.push_back({diagram.at(transfer.array).name, 0, 0, 0, transfer.saved, diagram.at(transfer.array).type});
    const auto values = product(transfer.values, figures, unused);
    all[at->second].transfer_values += values;
    all[at->second].transfer_bytes += values * transfer.bytes;
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
        .memory_values = at.memory_values,
        .memory_bytes = at.memory_bytes,
        .ideal_memory_values = at.ideal_memory_values,
        .ideal_memory_bytes = at.ideal_memory_bytes,
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
    }
    cost.levels.push_back(std::move(level));
  }
  name_units(cost, figures, times);
  cost.masks = masks(kernel.program.scratch, figures);
  name_bound(cost, figures, times, model);
  cost.closed_form = closed_form(*this, kernel, *hardware_, model);
  cost.compulsory_bytes = compulsory_bytes_;
  cost.every_program = lower_bound(*kernel.derivation, *hardware_);
  cost.ideal_time_s = times.ideal;
  cost.time_s = times.machine;
  cost.energy_j = energy(figures, times.machine);
  cost.overruns = overruns(sizes, figures, model);
  cost.overflow = figures.overflow;
  return cost;
}

void CostModel::name_units(KernelCost& cost, const Figures& figures, const Times& times) const {
  const auto add = [](std::optional<double>& sum, const std::optional<double>& more) {
    if (more) sum = sum.value_or(0) + *more;
  };
  std::map<Unit, UnitCost> units;
  for (std::size_t i = 0; i < work_.size(); ++i) {
    auto& unit = units.try_emplace(work_[i].unit, UnitCost{work_[i].unit, 0, {}, {}}).first->second;
    unit.operations += figures.operations[i];
    add(unit.ideal_time_s, times.ideal_work[i]);
    add(unit.time_s, times.work[i]);
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
