// Tries every warpgroup size that instructions allow with every overlap, and chooses the fastest configuration that
// runs.
#include "timing/launch_configs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cost/figures/evaluate.hpp"
#include "cost/model/make_cost_model.hpp"
#include "diagram/contains.hpp"
#include "timing/labels.hpp"
#include "timing/mainloop/excess.hpp"
#include "timing/mainloop/rows.hpp"
#include "timing/occupancy.hpp"
#include "timing/raster.hpp"

namespace napkin {

const Contraction& first_contraction(const Mainloop& mainloop) {
  return *std::ranges::find_if(mainloop.columns, [](const auto& c) { return c.contraction.has_value(); })->contraction;
}

std::unique_ptr<LaunchConfigs> LaunchConfigs::of(const Kernel& kernel, const Hardware& hardware, Model model) {
  if (!knows_occupancy(hardware)) return nullptr;
  auto mainloop = mainloop_of(kernel, hardware);
  if (!mainloop) return nullptr;
  return std::unique_ptr<LaunchConfigs>(new LaunchConfigs(std::move(*mainloop), kernel.partition, hardware, model));
}

LaunchConfigs::LaunchConfigs(Mainloop mainloop, Partition partition, const Hardware& hardware, Model model)
    : mainloop_(std::move(mainloop)),
      partition_(std::move(partition)),
      hardware_(hardware),
      model_(model),
      variables_(mainloop_, partition_, hardware, model),
      lanes_(mainloop_, hardware),
      warps_(static_cast<std::int64_t>(hardware.limits.register_partitions->value)) {
  const auto may_keep = [](const MainloopOperation& column) {
    return column.contraction && (column.contraction->rows.outlives || column.contraction->columns.outlives);
  };
  // Kernels for machines for which napkin emits none read their rows again in each iteration, as FlashAttention-2's do.
  if (mainloop_.keeps || hardware.limits.registers_for_addresses || std::ranges::none_of(mainloop_.columns, may_keep))
    return;
  auto keeping = mainloop_;
  keeping.keeps = true;
  napkin::resize(keeping, partition_);
  keeping_.reset(new LaunchConfigs(std::move(keeping), partition_, hardware_, model_));
}

void LaunchConfigs::resize(const Partition& partition) {
  partition_ = partition;
  napkin::resize(mainloop_, partition);
}

// Returns the configurations with resident operands, resized when they are first used. Their nest is the same.
const LaunchConfigs* LaunchConfigs::keeping() const {
  if (!keeping_) return nullptr;
  if (keeping_->partition_ != partition_) {
    keeping_->partition_ = partition_;
    divide_rows(keeping_->mainloop_);
  }
  return keeping_->mainloop_.keeps_any() ? keeping_.get() : nullptr;
}

LaunchConfig LaunchConfigs::best(const Demand& demand) const {
  auto made = best_of_warpgroups(demand);
  const auto* keeping = this->keeping();
  if (model_ == Model::ideal || !keeping || !keeping->has_registers(keeping->warpgroups().front())) return made;
  auto then = keeping->best_of_warpgroups(demand);
  if (!then.runs() || (made.runs() && then.seconds >= made.seconds * (1 - 1e-9))) return made;
  return then;
}

LaunchConfig LaunchConfigs::best_of_warpgroups(const Demand& demand) const {
  std::optional<LaunchConfig> found;
  const auto passage = this->passage(model_);
  for (const auto& warpgroup : warpgroups()) {
    if (found && !has_registers(warpgroup)) break;
    auto made = config(warpgroup, passage, demand, Detail::totals);
    const bool better = !found || (made.runs() && !found->runs()) ||
                        (made.runs() == found->runs() && made.seconds < found->seconds * (1 - 1e-9));
    if (better) found = std::move(made);
  }
  return std::move(*found);
}

// True if a thread has enough registers, whatever the overlap. More rows never need fewer registers. The paper's model
// has no limit per thread.
bool LaunchConfigs::has_registers(const RowDivision& warpgroup) const {
  const auto& most = hardware_.limits.registers_per_thread;
  if (model_ == Model::ideal || !most) return true;
  const auto registers = registers_of_lane(variables_, lanes_, warpgroup, LaneRegisters::Order::text, hardware_);
  return static_cast<double>(registers) <= most->value;
}
bool LaunchConfigs::may_run() const {
  return (model_ == Model::ideal || !excess_of(mainloop_)) && has_registers(warpgroups().front());
}

// True if several warps may divide the rows. An output without the row wire is written by one warp, unless warps
// exchange their parts of it.
bool LaunchConfigs::shares_rows() const {
  const auto has_row = [&](ArrayId output) { return contains(mainloop_.diagram().at(output).wires, mainloop_.row); };
  const auto exchanges = [](const MainloopOperation& column) {
    return column.contraction && column.contraction->exchanged;
  };
  return std::ranges::all_of(mainloop_.nest->outputs, has_row) || std::ranges::any_of(mainloop_.columns, exchanges);
}

// Returns the row divisions to try: each warp has the rows of one instruction, or a multiple of them. Warps that issue
// instructions together leave none of them idle. A division that the partition gives is the only one.
std::vector<RowDivision> LaunchConfigs::warpgroups() const {
  const auto rows = mainloop_.lengths[mainloop_.row.index];
  const auto& shape = *first_contraction(mainloop_).instruction;
  for (const auto& split : partition_.splits)
    if (split.kind == SplitKind::group && split.level == mainloop_.core + 1 && split.wire == mainloop_.row)
      return {division_of(rows, split.size * warps_)};
  const auto together = warps_of(shape), of_warp = shape.m / together, least = of_warp * warps_;
  if (together == 1 && !shares_rows()) return {division_of(rows, round_up(rows, of_warp) * warps_)};
  std::vector<RowDivision> all{division_of(rows, least)};
  const auto fits = [&](std::int64_t each) { return rows % (together == 1 ? each / warps_ : each) == 0; };
  for (auto each = 2 * least; each <= (together == 1 ? rows * warps_ : rows); each += least)
    if (fits(each)) all.push_back(division_of(rows, each));
  return all;
}

// If there are more warps than partitions, and they do not divide evenly among these, all warps are one warpgroup.
RowDivision LaunchConfigs::division_of(std::int64_t rows, std::int64_t each) const {
  const auto& shape = *first_contraction(mainloop_).instruction;
  const auto together = warps_of(shape), of_warp = shape.m / together;
  const auto held_by_warp = round_up(pieces_of(each, warps_), of_warp);
  const auto in_all = pieces_of(rows, held_by_warp);
  if (together == 1 && in_all > warps_ && in_all % warps_ != 0) return {rows, in_all, 1, in_all * held_by_warp};
  const auto taken = std::min(rows, each);
  const auto warps = round_up(pieces_of(taken * warps_, each), together);
  return {taken, warps, pieces_of(rows, taken), warps * held_by_warp};
}

OfLaunch LaunchConfigs::of_launch(const Demand& demand) const {
  if (model_ == Model::ideal || demand.tensor_operations <= 0) return {last_round(demand), 0};
  return {last_round(demand), demand.masks_s / demand.tensor_operations};
}

LaunchConfig LaunchConfigs::config(const RowDivision& warpgroup, const Demand& demand, Detail detail) const {
  return config(warpgroup, passage(model_), demand, detail);
}

LaunchConfig LaunchConfigs::config(const RowDivision& warpgroup, const Passage& passage, const Demand& demand,
                                   Detail detail) const {
  LaunchConfig made;
  made.warpgroup = warpgroup;
  made.clocks = clocks_of(on(warpgroup), passage, of_launch(demand), has_cache(), detail);
  if (detail == Detail::columns)
    made.ideal =
        clocks_of({mainloop_, warpgroup, hardware_, Model::ideal}, this->passage(Model::ideal), {}, has_cache());
  made.pipelinings = pipelinings(on(warpgroup), made.clocks, variables_, lanes_,
                                 static_cast<std::int64_t>(std::ceil(demand.per_core)), detail);
  made.keeps = mainloop_.keeps;
  choose(made, demand);
  return made;
}

// Chooses the pipelining with the shortest launch. Launches are compared because co-resident blocks hide more than the
// time of an iteration shows.
void LaunchConfigs::choose(LaunchConfig& config, const Demand& demand) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < config.pipelinings.size(); ++i) {
    if (!config.pipelinings[i].runs) continue;
    config.fastest = i;
    const auto seconds = launch(config, demand, 0).time_s;
    config.pipelinings[i].launch_s = seconds;
    if (best && seconds >= config.seconds * (1 - 1e-9)) continue;
    best = i, config.seconds = seconds;
  }
  config.fastest = best.value_or(0);
}

Launch LaunchConfigs::launch(const LaunchConfig& config, const Demand& demand, double ideal_s, Detail detail) const {
  if (&as(config) != this) return keeping_->launch(config, demand, ideal_s, detail);
  const auto& ideal = config.ideal ? *config.ideal : config.clocks;
  return launch_of(on(config.warpgroup), config.chosen(), config.clocks, ideal, demand, ideal_s, detail);
}

IterationClocks LaunchConfigs::least(const Demand& demand) const {
  const auto rows = mainloop_.lengths[mainloop_.row.index];
  return clocks_of(on({rows, 1, 1, rows}), passage(model_), {last_round(demand), 0}, has_cache(), Detail::least);
}

std::optional<ResidentOperands> kept(const LaunchConfigs& configs, const LaunchConfig& config, const Demand& demand) {
  const auto* keeping = configs.keeping();
  if (!keeping) return std::nullopt;
  ResidentOperands made;
  const auto& mainloop = keeping->mainloop();
  for (const auto& column : mainloop.columns)
    if (column.contraction && column.contraction->rows.kept)
      made.tiles.push_back(mainloop.diagram().at(mainloop.nest->at(column.contraction->rows.buffer).array).name);
  const auto then = keeping->config(config.warpgroup, demand);
  made.registers_per_thread = then.chosen().occupancy.registers_per_thread;
  if (then.runs()) made.launch_s = then.seconds;
  made.chosen = config.keeps;
  return made;
}

double least_launch_seconds(const LaunchConfigs& configs, const Demand& demand) {
  const auto clocks = configs.least(demand);
  const auto rounds = least_rounds(demand);
  const auto& launch = configs.hardware().limits.launch_seconds;
  const auto steps = demand.tensor_operations / (clocks.operations + clocks.operations_outside);
  const auto block = rounds.full * clocks.bound + rounds.last * clocks.in_last_round().bound;
  const auto busy = steps / static_cast<double>(demand.blocks) * block;
  return std::max(busy, demand.outer_s) + (launch ? launch->value : 0);
}

Demand demand_of(const Kernel& kernel, const Hardware& hardware) {
  const auto outer = down_to(kernel, *hardware.core);
  std::vector<std::int64_t> sizes;
  for (const auto& split : outer.partition.splits) sizes.push_back(split.size);
  const auto model = make_cost_model(outer, hardware);
  Figures figures;
  evaluate_compared(model, sizes, figures);
  return whole_demand_of(model, figures);
}

std::optional<LaunchTime> launch_time(const LaunchConfigs& configs, const Demand& demand) {
  const auto config = configs.best(demand);
  return config.runs() ? std::optional(launch_time(configs, config, demand)) : std::nullopt;
}
LaunchTime launch_time(const LaunchConfigs& configs, const LaunchConfig& config, const Demand& demand) {
  const auto launch = configs.launch(config, demand, 0);
  const double steps = launch.steps / static_cast<double>(launch.cores);
  return {launch.time_s,
          launch.bound,
          launch.bound_outside,
          launch.bound_by_cache,
          steps,
          steps * config.clocks.at(Resource::copy).seconds,
          steps * config.clocks.at(Resource::shared).seconds,
          launch.steps * config.clocks.inner_bytes};
}

std::string why_no_block(const LaunchConfigs& configs, const LaunchConfig& config) {
  if (const auto excess = excess_of(configs.mainloop())) return std::string(excess->why);
  const auto& chosen = config.chosen();
  const auto& occupancy = chosen.occupancy;
  const auto& most = configs.hardware().limits.registers_per_thread;
  if (most && static_cast<double>(occupancy.registers_per_thread) > most->value)
    return fmt::format("a thread would need {} registers, and has at most {}", occupancy.registers_per_thread,
                       static_cast<std::int64_t>(most->value));
  return "not enough " + occupancy.limited_by;
}

namespace {

// Returns the level that bounds a launch; none if a unit bounds it.
std::optional<std::size_t> bounding_level(const LaunchTime& time, const KernelCost& cost, const Hardware& hardware) {
  const auto core = *hardware.core;
  if (time.bound_outside)
    return std::ranges::max_element(cost.levels.begin(), cost.levels.begin() + static_cast<std::ptrdiff_t>(core - 1),
                                    {}, [](const LevelCost& one) { return one.time_s.value_or(0); })
        ->level;
  if (time.bound == Resource::shared) return std::min(core + 1, hardware.levels.size() - 1);
  return time.bound == Resource::copy ? std::optional(core) : std::nullopt;
}

void name_bound(KernelCost& cost, const LaunchTime& time, const LaunchConfigs& configs) {
  const auto& hardware = configs.hardware();
  const auto level = bounding_level(time, cost, hardware);
  cost.bound_by = level ? hardware.levels[*level].name : std::string(name(time.bound));
  cost.bound_from = level ? hardware.levels[*level - 1].name : "";
  if (time.bound_by_cache && !time.bound_outside) cost.bound_from = cache_of(configs.mainloop(), hardware)->name;
}

// Returns how much one warp holds of the arrays of a column, of all that its warpgroup holds.
std::vector<HeldArray> held_by_warp(const ColumnVariables& column, std::int64_t warps) {
  std::vector<HeldArray> all;
  for (const auto& variable : column.variables) {
    if (variable.place != Place::registers) continue;
    const auto bytes = pieces_of(variable.bytes, warps);
    all.push_back({variable.name, bytes / row(variable.type).bytes, bytes, variable.type, variable.type});
  }
  std::ranges::stable_sort(all, std::greater{}, &HeldArray::bytes);
  return all;
}

// The times of units become those within the launch, on average over the cores: the executed operations at the rates of
// their instructions.
void spread_units(KernelCost& cost, const IterationClocks& clocks, double steps) {
  for (auto& unit : cost.units) {
    const auto on = resource_of(unit.unit);
    if (unit.time_s) unit.time_s = steps * (clocks.at(on).seconds + clocks.outside_on[static_cast<std::size_t>(on)]);
  }
}

// The memory of registers becomes that of the launch: the operands of instructions in flight and addresses, which are
// fewer bytes than the pieces that pass through registers.
void hold_registers(KernelCost& cost, const LaunchConfigs& configs, const LaunchConfig& config) {
  const auto& hardware = configs.hardware();
  const auto below = *hardware.core + 1;
  if (below + 1 != hardware.levels.size()) return;
  auto& level = cost.levels.at(below - 1);
  const auto columns =
      configs.as(config).variables().registers(config.warpgroup, config.chosen().overlap == Overlap::intra_warpgroup);
  const auto& largest = *std::ranges::max_element(columns, {}, &ColumnVariables::warpgroup_register_bytes);
  constexpr std::int64_t bytes_of_register = 4;
  const auto lanes = static_cast<std::int64_t>(hardware.limits.threads_per_warp->value);
  level.memory_values = config.chosen().occupancy.registers_per_thread * lanes;
  level.memory_bytes = level.memory_values * bytes_of_register;
  level.ideal_memory_bytes = pieces_of(config.chosen().warpgroup_register_bytes, config.warpgroup.warps);
  level.ideal_memory_values = level.ideal_memory_bytes / bytes_of_register;
  level.held = held_by_warp(largest, config.warpgroup.warps);
  std::erase_if(cost.overruns,
                [&](const Overrun& one) { return one.level == below && one.what.starts_with("memory"); });
}

// Adds the energy of the idle machine during the launch, and replaces the transfers below the core by what instructions
// read.
void spend(KernelCost& cost, const LaunchTime& time, const Hardware& hardware) {
  if (!cost.energy_j) return;
  if (cost.time_s && hardware.idle_watts) *cost.energy_j += hardware.idle_watts->value * (time.seconds - *cost.time_s);
  const auto below = *hardware.core + 1;
  if (below >= hardware.levels.size()) return;
  const auto price = [&](std::size_t level) { return hardware.levels[level].energy_per_byte->value; };  // all have one
  for (const auto& one : cost.levels)
    if (one.level >= below) *cost.energy_j -= price(one.level) * static_cast<double>(one.transfer_bytes);
  *cost.energy_j += price(below) * time.inner_bytes;
}

}  // namespace

std::optional<Overrun> set_launch_time(KernelCost& cost, const Kernel& kernel, std::size_t level,
                                       const Hardware& hardware) {
  const auto outer = without_idle_labels(down_to(kernel, level));
  const auto configs = LaunchConfigs::of(outer, hardware, Model::machine);
  if (!configs) return {};
  const auto demand = demand_of(outer, hardware);
  const auto config = configs->best(demand);
  if (!config.runs()) return Overrun{configs->mainloop().core, 1, "", "launch", why_no_block(*configs, config)};
  const auto time = launch_time(*configs, config, demand);
  spend(cost, time, hardware);
  cost.time_s = time.seconds;
  // The times of levels become those within the launch, so that none takes longer than the launch.
  for (auto& one : cost.levels) {
    if (one.time_s && one.level == *hardware.core) one.time_s = time.copied_s;
    if (one.time_s && one.level == *hardware.core + 1) one.time_s = time.read_s;
  }
  spread_units(cost, config.clocks, time.core_steps);
  hold_registers(cost, *configs, config);
  name_bound(cost, time, *configs);
  return {};
}

}  // namespace napkin
