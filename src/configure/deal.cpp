// Every team size that instructions allow, each with every overlap; the fastest that runs.
#include "configure/deal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configure/labels.hpp"
#include "configure/occupancy.hpp"
#include "configure/raster.hpp"

namespace napkin {

const Contraction& first_contraction(const BlockStep& step) {
  return *std::ranges::find_if(step.columns, [](const auto& c) { return c.contraction.has_value(); })->contraction;
}

std::unique_ptr<Dealing> Dealing::of(const Kernel& kernel, const Hardware& hardware, Model model) {
  if (!knows_occupancy(hardware)) return nullptr;
  auto step = step_of(kernel, hardware);
  if (!step) return nullptr;
  return std::unique_ptr<Dealing>(new Dealing(std::move(*step), kernel.partition, hardware, model));
}

Dealing::Dealing(BlockStep step, Partition partition, const Hardware& hardware, Model model)
    : step_(std::move(step)),
      partition_(std::move(partition)),
      hardware_(hardware),
      model_(model),
      variables_(step_, partition_, hardware, model),
      warps_(static_cast<std::int64_t>(hardware.limits.register_partitions->value)) {}

void Dealing::resize(const Partition& partition) {
  partition_ = partition;
  napkin::resize(step_, partition);
}

std::unique_ptr<Dealing> Dealing::keeping() const {
  auto step = step_;
  bool any = false;
  for (auto& column : step.columns) {
    if (!column.contraction || column.contraction->exchanged) continue;
    auto& rows = column.contraction->rows;
    if (rows.outlives) rows.kept = any = true;
  }
  if (!any) return nullptr;
  return std::unique_ptr<Dealing>(new Dealing(std::move(step), partition_, hardware_, model_));
}

Deal Dealing::best(const Demand& demand) const {
  std::optional<Deal> found;
  const auto passage = passage_of(step_, hardware_, model_, has_cache());
  for (const auto& team : teams()) {
    if (found && !has_registers(team)) break;
    auto made = deal(team, passage, demand, Detail::totals);
    const bool better = !found || (made.runs() && !found->runs()) ||
                        (made.runs() == found->runs() && made.seconds < found->seconds * (1 - 1e-9));
    if (better) found = std::move(made);
  }
  return std::move(*found);
}

// However columns overlap. With more rows a thread needs no fewer. The paper's model has no limit of a thread.
bool Dealing::has_registers(const Team& team) const {
  const auto& most = hardware_.limits.registers_per_thread;
  if (model_ == Model::ideal || !most) return true;
  const auto bytes = variables_.register_bytes(team, false);
  return static_cast<double>(registers_of_thread(bytes, step_, team, hardware_, model_)) <= most->value;
}
bool Dealing::may_run() const {
  return (model_ == Model::ideal || step_.fits_instructions()) && has_registers(teams().front());
}

// Rows of one instruction by all warps of a team, and multiples; what the partition says, where it says it.
std::vector<Team> Dealing::teams() const {
  const auto rows = step_.lengths[step_.row.index];
  const auto& shape = *first_contraction(step_).instruction;
  const auto of_warp = shape.m / warps_of(shape);
  for (const auto& split : partition_.splits)
    if (split.kind == SplitKind::group && split.level == step_.core + 1 && split.wire == step_.row)
      return {team_of(rows, split.size * warps_)};
  std::vector<Team> all;
  const auto least = of_warp * warps_;
  if (rows <= least) return {team_of(rows, least)};
  for (std::int64_t each = least; each <= rows; each += least)
    if (each == least || rows % each == 0) all.push_back(team_of(rows, each));
  return all;
}

Team Dealing::team_of(std::int64_t rows, std::int64_t each) const {
  const auto& shape = *first_contraction(step_).instruction;
  const auto together = warps_of(shape), of_warp = shape.m / together;
  const auto taken = std::min(rows, each);
  const auto warps = round_up((taken * warps_ + each - 1) / each, together);
  return {taken, warps, (rows + taken - 1) / taken, warps * round_up((each + warps_ - 1) / warps_, of_warp)};
}

OfLaunch Dealing::of_launch(const Demand& demand) const {
  if (model_ == Model::ideal || demand.tensor_operations <= 0) return {last_round(demand), 0};
  return {last_round(demand), demand.masks_s / demand.tensor_operations};
}

Deal Dealing::deal(const Team& team, const Demand& demand, Detail detail) const {
  return deal(team, passage_of(step_, hardware_, model_, has_cache()), demand, detail);
}

Deal Dealing::deal(const Team& team, const Passage& passage, const Demand& demand, Detail detail) const {
  Deal made{team, clocks_of(step_, team, passage, of_launch(demand), hardware_, model_, has_cache(), detail), {}, {}, 0,
            0};
  if (detail == Detail::columns)
    made.ideal = clocks_of(step_, team, passage_of(step_, hardware_, Model::ideal, has_cache()), {}, hardware_,
                           Model::ideal, has_cache());
  made.pipelinings = pipelinings(step_, team, made.clocks, variables_, hardware_, model_,
                                 static_cast<std::int64_t>(std::ceil(demand.per_core)), detail);
  choose(made, demand);
  return made;
}

// Blocks side by side hide more than a step shows, so that launches are compared.
void Dealing::choose(Deal& deal, const Demand& demand) const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < deal.pipelinings.size(); ++i) {
    if (!deal.pipelinings[i].runs) continue;
    deal.fastest = i;
    const auto seconds = launch(deal, demand, 0).time_s;
    deal.pipelinings[i].launch_s = seconds;
    if (best && seconds >= deal.seconds * (1 - 1e-9)) continue;
    best = i, deal.seconds = seconds;
  }
  deal.fastest = best.value_or(0);
}

Launch Dealing::launch(const Deal& deal, const Demand& demand, double ideal_s, Detail detail) const {
  const auto& ideal = deal.ideal ? *deal.ideal : deal.clocks;
  return launch_of(step_, deal.team, deal.chosen(), deal.clocks, ideal, demand, ideal_s, hardware_, model_, detail);
}

StepClocks Dealing::least(const Demand& demand) const {
  const auto rows = step_.lengths[step_.row.index];
  return clocks_of(step_, {rows, 1, 1, rows}, passage_of(step_, hardware_, model_, has_cache()),
                   {last_round(demand), 0}, hardware_, model_, has_cache(), Detail::least);
}

std::optional<Kept> kept(const Dealing& dealing, const Deal& deal, const Demand& demand) {
  const auto keeping = dealing.keeping();
  if (!keeping) return std::nullopt;
  Kept made;
  const auto& step = keeping->step();
  for (const auto& column : step.columns)
    if (column.contraction && column.contraction->rows.kept)
      made.tiles.push_back(step.diagram().at(step.nest->at(column.contraction->rows.buffer).array).name);
  const auto then = keeping->deal(deal.team, demand);
  made.registers_per_thread = then.chosen().occupancy.registers_per_thread;
  if (then.runs()) made.launch_s = then.seconds;
  made.chosen = then.runs() && (!deal.runs() || then.seconds < deal.seconds * (1 - 1e-9));
  return made;
}

double least_launch_seconds(const Dealing& dealing, const Demand& demand) {
  const auto clocks = dealing.least(demand);
  const auto rounds = least_rounds(demand);
  const auto& launch = dealing.hardware().limits.launch_seconds;
  const auto steps = demand.tensor_operations / (clocks.operations + clocks.operations_outside);
  const auto block = rounds.full * clocks.bound + rounds.last * clocks.in_last_round().bound;
  const auto busy = steps / static_cast<double>(demand.blocks) * block;
  return std::max(busy, demand.outer_s) + (launch ? launch->value : 0);
}

Demand demand_of(const Kernel& kernel, const Hardware& hardware) {
  const auto outer = down_to(kernel, *hardware.core);
  std::vector<std::int64_t> sizes;
  for (const auto& split : outer.partition.splits) sizes.push_back(split.size);
  const CostModel model(outer, hardware);
  Figures figures;
  model.compared(sizes, figures);
  return model.whole_demand(figures);
}

std::optional<LaunchTime> launch_time(const Dealing& dealing, const Demand& demand) {
  const auto deal = dealing.best(demand);
  if (!deal.runs()) return std::nullopt;
  const auto launch = dealing.launch(deal, demand, 0);
  const double steps = launch.steps / static_cast<double>(launch.cores);
  return LaunchTime{launch.time_s,
                    launch.bound,
                    launch.bound_outside,
                    launch.bound_by_cache,
                    steps * deal.clocks.at(Resource::copy).seconds,
                    steps * deal.clocks.at(Resource::shared).seconds};
}

namespace {

// The level that bounds a launch; none where a unit does.
std::optional<std::size_t> bounding_level(const LaunchTime& time, const KernelCost& cost, const Hardware& hardware) {
  const auto core = *hardware.core;
  if (time.bound_outside)
    return std::ranges::max_element(cost.levels.begin(), cost.levels.begin() + static_cast<std::ptrdiff_t>(core - 1),
                                    {}, [](const LevelCost& one) { return one.time_s.value_or(0); })
        ->level;
  if (time.bound == Resource::shared) return std::min(core + 1, hardware.levels.size() - 1);
  return time.bound == Resource::copy ? std::optional(core) : std::nullopt;
}

// What a block needs more of than a core has.
Overrun no_block(const Dealing& dealing, const Demand& demand) {
  const Deal deal = dealing.best(demand);
  const auto& occupancy = deal.chosen().occupancy;
  const auto& most = dealing.hardware().limits.registers_per_thread;
  const bool registers = most && static_cast<double>(occupancy.registers_per_thread) > most->value;
  return {dealing.step().core, 1, "", "launch",
          registers ? fmt::format("a thread would need {} registers of {}", occupancy.registers_per_thread,
                                  static_cast<std::int64_t>(most->value))
                    : "limited by " + occupancy.limited_by};
}

void name_bound(KernelCost& cost, const LaunchTime& time, const Dealing& dealing) {
  const auto& hardware = dealing.hardware();
  const auto level = bounding_level(time, cost, hardware);
  cost.bound_by = level ? hardware.levels[*level].name : std::string(name(time.bound));
  cost.bound_from = level ? hardware.levels[*level - 1].name : "";
  if (time.bound_by_cache && !time.bound_outside) cost.bound_from = cache_of(dealing.step(), hardware)->name;
}

}  // namespace

std::optional<Overrun> set_launch_time(KernelCost& cost, const Kernel& kernel, std::size_t level,
                                       const Hardware& hardware) {
  const auto outer = without_idle_labels(down_to(kernel, level));
  const auto dealing = Dealing::of(outer, hardware, Model::machine);
  if (!dealing) return {};
  const auto demand = demand_of(outer, hardware);
  const auto time = launch_time(*dealing, demand);
  if (!time) return no_block(*dealing, demand);
  if (cost.energy_j && cost.time_s && hardware.idle_watts)
    *cost.energy_j += hardware.idle_watts->value * (time->seconds - *cost.time_s);
  cost.time_s = time->seconds;
  // Levels take what the launch has of them, so that none takes longer than it.
  for (auto& one : cost.levels) {
    if (one.time_s && one.level == *hardware.core) one.time_s = time->copied_s;
    if (one.time_s && one.level == *hardware.core + 1) one.time_s = time->read_s;
  }
  name_bound(cost, *time, *dealing);
  return {};
}

}  // namespace napkin
