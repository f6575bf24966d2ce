// Time of a step: what must follow one another is added, what overlaps is the greatest.
#include "timing/pipelining.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "timing/assumptions.hpp"
#include "timing/occupancy.hpp"

namespace napkin {
namespace {

// A copy team where warpgroups hand registers to each other (setmaxnreg): CUDA's least.
constexpr std::int64_t registers_of_copy_team = 24;

// Of those that are there; beside each other, blocks.
std::int64_t teams_needed(Overlap overlap) {
  return overlap == Overlap::three_teams ? 3 : overlap == Overlap::two_teams || overlap == Overlap::beside ? 2 : 1;
}
bool in_turn(Overlap overlap) { return overlap == Overlap::two_teams || overlap == Overlap::three_teams; }

// Rows are aligned for copies that run by themselves.
bool copies_ahead(const BlockStep& step) {
  constexpr std::int64_t least_alignment = 4;
  return step.row_alignment >= least_alignment;
}

// Copies of each tile that are worth a try: one where none is made ahead on this machine. With several tiles a step one
// can be loaded while another is in use, without a second copy; not where teams of a block take turns, one of which
// always uses it.
std::span<const std::int64_t> stages_of(Overlap overlap, const BlockStep& step, const Team& team, Model model) {
  static constexpr std::int64_t fewest[] = {2, 3, 4, 1};
  if (overlap == Overlap::none || (model == Model::machine && !copies_ahead(step))) return std::span(fewest).last(1);
  const bool turns = team.teams > 1 && in_turn(overlap);
  return step.streamed.size() > 1 && !turns ? std::span(fewest) : std::span(fewest).first(3);
}

double tensor_share(const StepClocks& clocks, double step) {
  return step <= 0 ? 0 : clocks.at(Resource::tensor).seconds / step;
}

// A sum that goes on where it is, and that nothing else in its step touches: it may run while the next step begins.
bool may_trail(const BlockStep& step, const StepColumn& trailing) {
  const auto sum = trailing.compute->to;
  const auto touches = [&](const StepColumn& other) {
    const auto& compute = *other.compute;
    return &other != &trailing && (compute.to == sum || compute.carried == sum ||
                                   std::ranges::count(compute.reads, sum, &std::pair<ExprId, BufferId>::second) > 0);
  };
  return trailing.compute->carried == sum && std::ranges::none_of(step.columns, touches);
}

// On a chip: tiles are copied ahead where rows are aligned for it, and steps are cut where products of tiles alone meet
// those of what they lead to.
bool can(Overlap overlap, const BlockStep& step, const Team& team) {
  if (overlap == Overlap::copies && !copies_ahead(step)) return false;
  if (overlap != Overlap::within_team && !in_turn(overlap)) return true;
  const auto is_product = [](const StepColumn& column) { return column.contraction.has_value(); };
  const auto trails = [&](const StepColumn& column) { return is_product(column) && !leads(column); };
  const auto is_leading = [&](const StepColumn& column) { return is_product(column) && leads(column); };
  const auto is_needed = [&](const StepColumn& column) { return trails(column) && !may_trail(step, column); };
  if (!step.issues_together() || std::ranges::none_of(step.columns, is_leading) ||
      std::ranges::none_of(step.columns, trails) || std::ranges::any_of(step.outside, is_product))
    return false;
  return overlap == Overlap::within_team ? std::ranges::none_of(step.columns, is_needed)
                                         : team.teams >= teams_needed(overlap);
}

LaneRegisters::Order order_of(Overlap overlap) {
  return overlap == Overlap::within_team ? LaneRegisters::Order::within_team
         : in_turn(overlap)              ? LaneRegisters::Order::in_turn
                                         : LaneRegisters::Order::text;
}

class Fitting {
 public:
  Fitting(const BlockStep& step, const Team& team, const StepClocks& clocks, const Variables& variables,
          const LaneRegisters& lanes, const Hardware& hardware, Model model, std::int64_t most_blocks)
      : step_(step), team_(team), clocks_(clocks), hardware_(hardware), model_(model), most_blocks_(most_blocks) {
    for (const bool within : {false, true}) bytes_[within] = variables.register_bytes(team, within);
    for (const auto order :
         {LaneRegisters::Order::text, LaneRegisters::Order::in_turn, LaneRegisters::Order::within_team})
      if (model == Model::machine)
        registers_[static_cast<std::size_t>(order)] = registers_of_lane(variables, lanes, team, order, hardware);
    for (const auto id : step.streamed) streamed_.add(step, id, team);
    for (const auto id : step.tiles) (step.has_loop_of_its_own(id) ? streamed_ : kept_).add(step, id, team);
    for (const auto id : step.outputs) leaving_.add(step, id, team);
  }

  Pipelining run(Overlap overlap, std::int64_t stages) const {
    Pipelining made;
    made.overlap = overlap;
    made.team_register_bytes = bytes_[overlap == Overlap::within_team];
    made.stages = stages;
    const auto tiles = stages * streamed_.all + kept_.all + barriers(stages);
    made.shared_bytes = model_ == Model::ideal ? tiles + leaving_.all : std::max(tiles, leaving_.all);
    by_bytes(made, stages);
    by_allocation(made, overlap);
    made.latency_s = waits_for_tiles(step_, made, blocks_there(made), clocks_, hardware_, model_);
    made.unevenness = unevenness(made);
    return made;
  }
  // Where tiles are copied by a team of their own: as many copies as are worth it while as many blocks have room, with
  // results beside them. Teams in turn leave it at that: with overlap within each as well, kernels took longer on a
  // device (docs/measured.md).
  void fill(Pipelining& made) const {
    if (!step_.issues_together() || made.overlap == Overlap::none) return;
    constexpr std::int64_t most_stages = 4;
    const auto there = blocks_there(made);
    while (made.stages < most_stages) {
      auto more = run(made.overlap, made.stages + 1);
      if (!has_room_for_results(more) || blocks_there(more) < there) break;
      made.stages = more.stages, made.shared_bytes = more.shared_bytes, made.latency_s = more.latency_s;
      made.occupancy = more.occupancy;
    }
    made.within = made.overlap == Overlap::within_team;
  }
  bool has_room_for_results(const Pipelining& made) const {
    return static_cast<double>(made.stages * streamed_.all + kept_.all + leaving_.all + barriers(made.stages)) <=
           hardware_.levels[step_.core].room();
  }
  // What overlaps, of blocks that fit and that there are; the paper's model counts teams that fit.
  std::int64_t overlapping(const Pipelining& made) const {
    return model_ == Model::ideal ? made.occupancy.teams : napkin::overlapping(made.overlap, blocks_there(made), team_);
  }

 private:
  // Each partition of a core has matrix units and lanes of its own, for the warps that are there: those of as many
  // blocks as have room at once, and in the end of what is left.
  double unevenness(const Pipelining& made) const {
    if (model_ == Model::ideal || step_.issues_together()) return 1;
    const auto partitions = whole(hardware_.limits.register_partitions, 1);
    const auto of_warp = std::max<std::int64_t>(1, team_.held / team_.warps);
    const auto of_block = (step_.lengths[step_.row.index] + of_warp - 1) / of_warp;
    const auto at_once = std::max<std::int64_t>(1, blocks_there(made)), all = std::max(at_once, most_blocks_);
    const auto busiest =
        all / at_once * round_up(of_block * at_once, partitions) + round_up(of_block * (all % at_once), partitions);
    return static_cast<double>(busiest) / static_cast<double>(of_block * all);
  }
  // In shared memory: of each copy of a tile one that is full once it is there, and of all tiles of a stream one that
  // is empty once they were read.
  std::int64_t barriers(std::int64_t stages) const {
    constexpr std::int64_t bytes = 8;
    if (model_ == Model::ideal || !step_.issues_together()) return 0;
    return bytes * (stages * (std::ssize(step_.streamed) + 1) + 2 * std::ssize(step_.tiles));
  }
  std::int64_t blocks_there(const Pipelining& made) const { return std::min(made.occupancy.blocks, most_blocks_); }
  void by_bytes(Pipelining& made, std::int64_t stages) const {
    const auto block = static_cast<double>(stages * streamed_.block + kept_.block + leaving_.block);
    const auto team = static_cast<double>(stages * streamed_.team + kept_.team + leaving_.team);
    auto& occupancy = made.occupancy;
    const auto registers = assumed(hardware_.limits.registers_per_sm, 0) * 4;
    const auto bytes = static_cast<double>(std::max<std::int64_t>(1, made.team_register_bytes));
    occupancy.teams_by_registers = registers / bytes;
    occupancy.warps_by_registers = occupancy.teams_by_registers * static_cast<double>(team_.warps);
    const auto left = std::max(0.0, hardware_.levels[step_.core].room() - block);
    occupancy.teams_by_shared = team > 0 ? left / team : left > 0 ? occupancy.teams_by_registers : 0;
    occupancy.teams =
        static_cast<std::int64_t>(std::floor(std::min(occupancy.teams_by_shared, occupancy.teams_by_registers)));
  }
  void by_allocation(Pipelining& made, Overlap overlap) const {
    const auto by_bytes = registers_of_thread(made.team_register_bytes, team_, hardware_);
    made.occupancy.warps_by_these_registers = warps_at(by_bytes, hardware_);
    const auto registers = model_ == Model::ideal ? by_bytes : registers_[static_cast<std::size_t>(order_of(overlap))];
    made.occupancy.registers_per_thread = registers;
    BlockNeeds needs{team_.warps * team_.teams, registers, made.shared_bytes};
    const auto most = whole(hardware_.limits.registers_per_thread, 255);
    const auto teams = team_.teams;
    const bool copied = (overlap != Overlap::none || model_ == Model::machine) && step_.issues_together();
    const bool too_many = copied && registers > shares_of_teams(teams, 1, hardware_).lanes;
    if (too_many) needs.registers_per_thread = most + 1;
    if (copied && !too_many) {
      needs.warps += team_.warps;
      needs.registers_per_thread = (registers_of_copy_team + teams * registers + teams) / (teams + 1);
    }
    const auto excess = model_ == Model::machine ? step_.excess() : std::nullopt;
    const auto fit = excess ? Residents{0, std::string(excess->of)} : residents(needs, hardware_);
    made.occupancy.blocks = fit.blocks;
    made.occupancy.warps = fit.blocks * needs.warps;
    made.occupancy.limited_by = fit.limited_by;
  }

  // Of tiles: of the block, or of one team of it; and of all teams.
  struct Bytes {
    std::int64_t block = 0, team = 0, all = 0;
    void add(const BlockStep& step, BufferId id, const Team& dealt) {
      (step.has_row(id) ? team : block) += step.values(id, dealt.rows) * row(step.nest->at(id).type).bytes;
      all += step.bytes(id);
    }
  };

  const BlockStep& step_;
  const Team& team_;
  const StepClocks& clocks_;
  const Hardware& hardware_;
  Model model_;
  std::int64_t most_blocks_;
  std::array<std::int64_t, 2> bytes_{};      // of a team; within a team
  std::array<std::int64_t, 3> registers_{};  // of a lane, by order; of the machine alone
  Bytes streamed_, kept_, leaving_;
};

}  // namespace

std::int64_t registers_of_thread(std::int64_t team_bytes, const Team& team, const Hardware& hardware) {
  const auto threads = team.warps * whole(hardware.limits.threads_per_warp, 32);
  return (team_bytes + threads * 4 - 1) / (threads * 4);
}

std::int64_t registers_of_lane(const Variables& variables, const LaneRegisters& lanes, const Team& team,
                               LaneRegisters::Order order, const Hardware& hardware) {
  const auto& packed = hardware.limits.registers_for_addresses;
  if (!packed) return lanes.registers(team, order);
  const auto bytes = variables.register_bytes(team, order == LaneRegisters::Order::within_team);
  const auto held = (bytes * team.held + team.rows - 1) / team.rows;
  return registers_of_thread(held, team, hardware) + static_cast<std::int64_t>(packed->value);
}

// While one copy is in use the others are on their way, of every block on the core. A product of a team runs on while
// the team waits for the next tiles, and holds its own until it has ended. Then these are filled again: after the first
// latency they share the cache's bandwidth with what other cores are filling, as many as their own share of that time
// says.
double waits_for_tiles(const BlockStep& step, const Pipelining& made, std::int64_t blocks, const StepClocks& clocks,
                       const Hardware& hardware, Model model) {
  const auto& latency = hardware.levels[step.core].latency_clocks;
  const auto* tensor = hardware.find(Unit::tensor);
  if (model == Model::ideal || step.streamed.empty() || !latency || !tensor->clock_hz) return 0;
  const auto at_once = std::max<std::int64_t>(1, made.stages - 1) * std::max<std::int64_t>(1, blocks);
  double seconds = latency->value / tensor->clock_hz->value;
  if (made.overlap == Overlap::copies && step.issues_together()) {
    const double product = clocks.at(Resource::tensor).seconds, alone = clocks.at(Resource::copy).seconds;
    const double hidden = product + seconds - alone;
    seconds = product + seconds + (std::sqrt(hidden * hidden + 4 * alone * seconds) - hidden) / 2;
  }
  return seconds / static_cast<double>(at_once);
}

double step_seconds(Overlap overlap, const StepClocks& clocks, std::int64_t overlapping) {
  const double together = overlap == Overlap::none ? clocks.copy + clocks.alone() : clocks.alone();
  const double within = clocks.leading + std::max(clocks.pointwise, clocks.trailing);
  switch (overlap) {
    case Overlap::none:
      return together;
    case Overlap::copies:
      return std::max(clocks.bound, together);
    case Overlap::within_team:
      return std::max(clocks.bound, within);
    case Overlap::beside:
      return std::max(clocks.bound, overlapping < 2 ? together : std::min(together, clocks.beside(false)));
    // While one team has the matrix units another has the lanes, so that those of all teams follow one another.
    default:
      return std::max({clocks.bound, clocks.pointwise,
                       clocks.serial() / static_cast<double>(std::max<std::int64_t>(1, overlapping))}) +
             clocks.handover;
  }
}

std::int64_t overlapping(Overlap overlap, std::int64_t blocks, const Team& team) {
  return overlap == Overlap::beside ? blocks : blocks * team.teams;
}

std::vector<Pipelining> pipelinings(const BlockStep& step, const Team& team, const StepClocks& clocks,
                                    const Variables& variables, const LaneRegisters& lanes, const Hardware& hardware,
                                    Model model, std::int64_t most_blocks, Detail detail) {
  const Fitting fitting(step, team, clocks, variables, lanes, hardware, model, most_blocks);
  std::vector<Pipelining> all;
  all.reserve(6);
  for (const auto overlap : {Overlap::none, Overlap::copies, Overlap::beside, Overlap::within_team, Overlap::two_teams,
                             Overlap::three_teams}) {
    if (overlap == Overlap::beside && model == Model::ideal) continue;
    const bool possible = model == Model::ideal || can(overlap, step, team);
    if (!possible && detail == Detail::totals) continue;
    std::optional<Pipelining> best;
    for (const auto stages : stages_of(overlap, step, team, model)) {
      auto made = fitting.run(overlap, stages);
      const auto there = fitting.overlapping(made);
      made.runs = possible && there >= teams_needed(overlap);
      const auto at_once = std::min(there, teams_needed(overlap));
      const double step_s = made.unevenness == 1
                                ? step_seconds(overlap, clocks, at_once)
                                : step_seconds(overlap, clocks.of_busiest_partition(made.unevenness), at_once);
      made.step_s = std::max(step_s, made.latency_s);
      made.utilization = clocks.operations > 0 ? tensor_share(clocks, made.step_s) : 0;
      const bool waits = made.step_s <= made.latency_s || !made.runs;
      if (!best || (made.runs && (!best->runs || made.step_s < best->step_s * (1 - 1e-9)))) best = std::move(made);
      if (!waits) break;
    }
    if (detail == Detail::columns && model == Model::machine && best->runs) fitting.fill(*best);
    all.push_back(std::move(*best));
  }
  return all;
}

}  // namespace napkin
