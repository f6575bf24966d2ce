// Time of an iteration of the mainloop: operations that follow one another are added, and of operations that overlap
// the longest counts.
#include "timing/pipelining.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "hardware/assumptions.hpp"
#include "loops/passing.hpp"
#include "timing/mainloop/excess.hpp"
#include "timing/occupancy.hpp"
#include "timing/warp_instructions.hpp"

namespace napkin {
namespace {

// Registers per lane of the producer warpgroup if warpgroups exchange registers (setmaxnreg): CUDA's least.
constexpr std::int64_t registers_of_copy_warpgroup = 24;

// Returns how many resident warpgroups the overlap needs, or how many resident blocks for `Overlap::co_resident`.
std::int64_t warpgroups_needed(Overlap overlap) {
  return overlap == Overlap::ping_pong_of_three                                    ? 3
         : overlap == Overlap::ping_pong_of_two || overlap == Overlap::co_resident ? 2
                                                                                   : 1;
}

// True if rows are aligned for asynchronous copies.
bool copies_ahead(const Mainloop& mainloop) {
  constexpr std::int64_t least_alignment = 4;
  return mainloop.row_alignment >= least_alignment;
}

// Returns the numbers of stages worth trying. It is one if this machine cannot copy ahead. If an iteration has several
// tiles, one stage may suffice, because one tile can be loaded while another is in use. This is not so for warpgroups
// of a block in ping-pong, one of which always uses the tile.
std::span<const std::int64_t> stages_of(Overlap overlap, const Mainloop& mainloop, const RowDivision& warpgroup,
                                        Model model) {
  static constexpr std::int64_t fewest[] = {2, 3, 4, 1};
  if (overlap == Overlap::none || (model == Model::machine && !copies_ahead(mainloop)))
    return std::span(fewest).last(1);
  const bool turns = warpgroup.warpgroups > 1 && in_turn(overlap);
  return mainloop.streamed.size() > 1 && !turns ? std::span(fewest) : std::span(fewest).first(3);
}

double tensor_share(const IterationClocks& clocks, double iteration) {
  return iteration <= 0 ? 0 : clocks.at(Resource::tensor).seconds / iteration;
}

// True if the machine can overlap the mainloop in this way. Tiles are copied ahead if rows are aligned for that.
// Iterations are divided between leading products, which read only tiles, and the trailing products that depend on
// them, so that both kinds are needed.
bool can(Overlap overlap, const Mainloop& mainloop, const RowDivision& warpgroup) {
  if (overlap == Overlap::multistage && !copies_ahead(mainloop)) return false;
  if (overlap != Overlap::intra_warpgroup && !in_turn(overlap)) return true;
  const auto is_product = [](const MainloopOperation& column) { return column.contraction.has_value(); };
  const auto trails = [&](const MainloopOperation& column) { return is_product(column) && !leads(column); };
  const auto is_leading = [&](const MainloopOperation& column) { return is_product(column) && leads(column); };
  const auto is_needed = [&](const MainloopOperation& column) {
    return trails(column) && !may_trail(mainloop.body(), *column.compute);
  };
  if (!mainloop.issues_together() || std::ranges::none_of(mainloop.columns, is_leading) ||
      std::ranges::none_of(mainloop.columns, trails) || std::ranges::any_of(mainloop.outside, is_product))
    return false;
  return overlap == Overlap::intra_warpgroup ? std::ranges::none_of(mainloop.columns, is_needed)
                                             : warpgroup.warpgroups >= warpgroups_needed(overlap);
}

LaneRegisters::Order order_of(Overlap overlap) {
  return overlap == Overlap::intra_warpgroup ? LaneRegisters::Order::intra_warpgroup
         : in_turn(overlap)                  ? LaneRegisters::Order::in_turn
                                             : LaneRegisters::Order::text;
}

class Fitting : OnCore {
 public:
  Fitting(const OnCore& on, const IterationClocks& clocks, const Variables& variables, const LaneRegisters& lanes,
          std::int64_t most_blocks)
      : OnCore(on), clocks_(clocks), most_blocks_(most_blocks) {
    for (const bool within : {false, true}) bytes_[within] = variables.register_bytes(warpgroup, within);
    for (const auto order :
         {LaneRegisters::Order::text, LaneRegisters::Order::in_turn, LaneRegisters::Order::intra_warpgroup})
      if (model == Model::machine)
        registers_[static_cast<std::size_t>(order)] = registers_of_lane(variables, lanes, warpgroup, order, hardware);
    for (const auto id : mainloop.streamed) streamed_.add(mainloop, id, warpgroup);
    for (const auto id : mainloop.tiles)
      (mainloop.has_loop_of_its_own(id) ? streamed_ : kept_).add(mainloop, id, warpgroup);
    for (const auto id : mainloop.outputs) leaving_.add(mainloop, id, warpgroup);
  }

  Pipelining run(Overlap overlap, std::int64_t stages) const {
    Pipelining made;
    made.overlap = overlap;
    made.warpgroup_register_bytes = bytes_[overlap == Overlap::intra_warpgroup];
    made.stages = stages;
    const auto tiles = stages * streamed_.all + kept_.all + barriers(stages);
    made.shared_bytes = model == Model::ideal ? tiles + leaving_.all : std::max(tiles, leaving_.all);
    by_bytes(made, stages);
    by_allocation(made, overlap);
    made.latency_s = least_iteration(*this, made, blocks_there(made), clocks_);
    made.unevenness = unevenness(made);
    return made;
  }
  // If a producer warpgroup copies the tiles, adds useful stages as long as the same number of blocks fits, with
  // outputs staged beside the tiles. Ping-pong does not overlap within each warpgroup as well: with both, kernels took
  // longer on a device (docs/measured.md).
  void fill(Pipelining& made) const {
    if (!mainloop.issues_together() || made.overlap == Overlap::none) return;
    constexpr std::int64_t most_stages = 4;
    const auto there = blocks_there(made);
    while (made.stages < most_stages) {
      auto more = run(made.overlap, made.stages + 1);
      if (!has_room_for_results(more) || blocks_there(more) < there) break;
      made.stages = more.stages, made.shared_bytes = more.shared_bytes, made.latency_s = more.latency_s;
      made.occupancy = more.occupancy;
    }
    made.within = made.overlap == Overlap::intra_warpgroup;
  }
  bool has_room_for_results(const Pipelining& made) const {
    return static_cast<double>(made.stages * streamed_.all + kept_.all + leaving_.all + barriers(made.stages)) <=
           hardware.levels[mainloop.core].room();
  }
  // Returns how many warpgroups or blocks overlap, from the resident blocks that fit and exist. The paper's model
  // counts the warpgroups that fit.
  std::int64_t overlapping(const Pipelining& made) const {
    return model == Model::ideal ? made.occupancy.warpgroups
                                 : napkin::overlapping(made.overlap, blocks_there(made), warpgroup);
  }

 private:
  // Returns by what factor the busiest partition of a core takes longer than the average. Each partition has its own
  // matrix units and lanes for its warps. Rounds of as many blocks as fit at once are followed by a round of the
  // remaining blocks.
  double unevenness(const Pipelining& made) const {
    if (model == Model::ideal || mainloop.issues_together()) return 1;
    const auto partitions = whole(hardware.limits.register_partitions, 1);
    const auto of_warp = std::max<std::int64_t>(1, warpgroup.held / warpgroup.warps);
    const auto of_block = pieces_of(mainloop.lengths[mainloop.row.index], of_warp);
    const auto at_once = std::max<std::int64_t>(1, blocks_there(made)), all = std::max(at_once, most_blocks_);
    const auto busiest =
        all / at_once * round_up(of_block * at_once, partitions) + round_up(of_block * (all % at_once), partitions);
    return static_cast<double>(busiest) / static_cast<double>(of_block * all);
  }
  // Bytes of barriers in shared memory. Each stage of a tile has a full barrier, and each stage of all tiles of a
  // stream together has one empty barrier.
  std::int64_t barriers(std::int64_t stages) const {
    if (model == Model::ideal || !mainloop.issues_together()) return 0;
    return barrier_bytes * (stages * (std::ssize(mainloop.streamed) + 1) + 2 * std::ssize(mainloop.tiles));
  }
  std::int64_t blocks_there(const Pipelining& made) const { return std::min(made.occupancy.blocks, most_blocks_); }
  void by_bytes(Pipelining& made, std::int64_t stages) const {
    const auto of_block = static_cast<double>(stages * streamed_.block + kept_.block + leaving_.block);
    const auto of_warpgroup = static_cast<double>(stages * streamed_.warpgroup + kept_.warpgroup + leaving_.warpgroup);
    auto& occupancy = made.occupancy;
    const auto registers = assumed(hardware.limits.registers_per_sm, 0) * 4;
    const auto bytes = static_cast<double>(std::max<std::int64_t>(1, made.warpgroup_register_bytes));
    occupancy.warpgroups_by_registers = registers / bytes;
    occupancy.warps_by_registers = occupancy.warpgroups_by_registers * static_cast<double>(warpgroup.warps);
    const auto left = std::max(0.0, hardware.levels[mainloop.core].room() - of_block);
    occupancy.warpgroups_by_shared = of_warpgroup > 0 ? left / of_warpgroup
                                     : left > 0       ? occupancy.warpgroups_by_registers
                                                      : 0;
    occupancy.warpgroups = static_cast<std::int64_t>(
        std::floor(std::min(occupancy.warpgroups_by_shared, occupancy.warpgroups_by_registers)));
  }
  void by_allocation(Pipelining& made, Overlap overlap) const {
    const auto by_bytes = registers_of_thread(made.warpgroup_register_bytes, warpgroup, hardware);
    made.occupancy.warps_by_these_registers = warps_at(by_bytes, hardware);
    const auto registers = model == Model::ideal ? by_bytes : registers_[static_cast<std::size_t>(order_of(overlap))];
    made.occupancy.registers_per_thread = registers;
    BlockNeeds needs{warpgroup.warps * warpgroup.warpgroups, registers, made.shared_bytes};
    const auto most = whole(hardware.limits.registers_per_thread, 255);
    const auto warpgroups = warpgroup.warpgroups;
    const bool copied = (overlap != Overlap::none || model == Model::machine) && mainloop.issues_together();
    const bool too_many = copied && registers > shares_of_warpgroups(warpgroups, 1, hardware).lanes;
    if (too_many) needs.registers_per_thread = most + 1;
    if (copied && !too_many) {
      needs.warps += warpgroup.warps;
      needs.registers_per_thread =
          (registers_of_copy_warpgroup + warpgroups * registers + warpgroups) / (warpgroups + 1);
    }
    const auto excess = model == Model::machine ? excess_of(mainloop) : std::nullopt;
    const auto fit = excess ? Residents{0, std::string(excess->of)} : residents(needs, hardware);
    const auto compiled = copied && !too_many ? blocks_that_compile(fit.blocks) : fit.blocks;
    made.occupancy.blocks = compiled;
    made.occupancy.warps = compiled * needs.warps;
    made.occupancy.limited_by = compiled < fit.blocks ? "registers" : fit.limited_by;
  }
  // Before warpgroups exchange registers, a lane has its share of those of as many blocks. ptxas needs it to hold the
  // sums of the widest instruction, its rows, and 26 more: so CUDA 13.0 says of ten widths on sm_90a.
  std::int64_t blocks_that_compile(std::int64_t blocks) const {
    constexpr std::int64_t beside = 26, of_rows = 4, lanes_of_row = 2;
    std::int64_t most = 0;
    mainloop.any([&](const MainloopOperation& one) {
      if (!one.contraction) return false;
      const auto& made = *one.contraction;
      const auto columns = made.across ? mainloop.lengths[made.across->index] : 1;
      const bool from_shared = made.rows.staged && !made.mixed;
      most = std::max(most, round_up(columns, 8) / lanes_of_row + (from_shared ? 0 : of_rows) + beside);
      return false;
    });
    while (blocks > 0 && shares_of_warpgroups(warpgroup.warpgroups, blocks, hardware).first < most) --blocks;
    return blocks;
  }

  // Bytes of tiles: of those that all warpgroups share, of the parts of one warpgroup, and of all tiles of the block.
  struct Bytes {
    std::int64_t block = 0, warpgroup = 0, all = 0;
    void add(const Mainloop& loop, BufferId id, const RowDivision& divided) {
      (loop.has_row(id) ? warpgroup : block) += loop.values(id, divided.rows) * row(loop.nest->at(id).type).bytes;
      all += loop.bytes(id);
    }
  };

  const IterationClocks& clocks_;
  std::int64_t most_blocks_;
  std::array<std::int64_t, 2> bytes_{};      // of a warpgroup; without and with intra-warpgroup overlap
  std::array<std::int64_t, 3> registers_{};  // of a lane, by order; in the machine's model only
  Bytes streamed_, kept_, leaving_;
};

}  // namespace

std::int64_t registers_of_thread(std::int64_t warpgroup_bytes, const RowDivision& warpgroup, const Hardware& hardware) {
  const auto threads = warpgroup.warps * whole(hardware.limits.threads_per_warp, 32);
  return pieces_of(warpgroup_bytes, threads * 4);
}

std::int64_t registers_of_lane(const Variables& variables, const LaneRegisters& lanes, const RowDivision& warpgroup,
                               LaneRegisters::Order order, const Hardware& hardware) {
  const auto& packed = hardware.limits.registers_for_addresses;
  if (!packed) return lanes.registers(warpgroup, order);
  const auto bytes = variables.register_bytes(warpgroup, order == LaneRegisters::Order::intra_warpgroup);
  const auto held = pieces_of(bytes * warpgroup.held, warpgroup.rows);
  return registers_of_thread(held, warpgroup, hardware) + static_cast<std::int64_t>(packed->value);
}

// Returns the time between tiles that waiting for loads enforces. While one stage is in use, the other stages of every
// block on the core are being loaded. In a multistage mainloop of warpgroups, a product still runs while the warpgroup
// waits for the next tiles, and it holds its own stage until it has ended. Then that stage is filled again: after the
// first latency, the load shares the cache's bandwidth with the loads of other cores. How many of them load at that
// time follows from the share of time that a core itself spends loading.
double waits_for_tiles(const OnCore& on, const Pipelining& made, std::int64_t blocks, const IterationClocks& clocks) {
  const auto& [mainloop, warpgroup, hardware, model] = on;
  const auto& latency = hardware.levels[mainloop.core].latency_clocks;
  const auto* tensor = hardware.find(Unit::tensor);
  if (model == Model::ideal || mainloop.streamed.empty() || !latency || !tensor->clock_hz) return 0;
  const auto at_once = std::max<std::int64_t>(1, made.stages - 1) * std::max<std::int64_t>(1, blocks);
  double seconds = latency->value / tensor->clock_hz->value;
  if (made.overlap == Overlap::multistage && mainloop.issues_together()) {
    const double product = clocks.at(Resource::tensor).seconds, alone = clocks.at(Resource::copy).seconds;
    const double hidden = product + seconds - alone;
    seconds = product + seconds + (std::sqrt(hidden * hidden + 4 * alone * seconds) - hidden) / 2;
  }
  return seconds / static_cast<double>(at_once);
}

double least_iteration(const OnCore& on, const Pipelining& made, std::int64_t blocks, const IterationClocks& clocks) {
  return std::max(waits_for_tiles(on, made, blocks, clocks), waits_for_instructions(on, made, blocks, clocks));
}

double step_seconds(Overlap overlap, const IterationClocks& clocks, std::int64_t overlapping) {
  const double together = overlap == Overlap::none ? clocks.copy + clocks.alone() : clocks.alone();
  const double within = clocks.leading + std::max(clocks.pointwise, clocks.trailing);
  switch (overlap) {
    case Overlap::none:
      return together;
    case Overlap::multistage:
      return std::max(clocks.bound, together);
    case Overlap::intra_warpgroup:
      return std::max(clocks.bound, within);
    case Overlap::co_resident:
      return std::max(clocks.bound, overlapping < 2 ? together : std::min(together, clocks.beside(false)));
    // While one warpgroup uses the matrix units, another uses the lanes, so that the lanes serve all warpgroups one
    // after another.
    default:
      return std::max({clocks.bound, clocks.pointwise,
                       clocks.serial() / static_cast<double>(std::max<std::int64_t>(1, overlapping))}) +
             clocks.handover;
  }
}

std::int64_t overlapping(Overlap overlap, std::int64_t blocks, const RowDivision& warpgroup) {
  return overlap == Overlap::co_resident ? blocks : blocks * warpgroup.warpgroups;
}

std::vector<Pipelining> pipelinings(const OnCore& on, const IterationClocks& clocks, const Variables& variables,
                                    const LaneRegisters& lanes, std::int64_t most_blocks, Detail detail) {
  const auto& [mainloop, warpgroup, hardware, model] = on;
  const Fitting fitting(on, clocks, variables, lanes, most_blocks);
  std::vector<Pipelining> all;
  all.reserve(6);
  for (const auto overlap : {Overlap::none, Overlap::multistage, Overlap::co_resident, Overlap::intra_warpgroup,
                             Overlap::ping_pong_of_two, Overlap::ping_pong_of_three}) {
    if (overlap == Overlap::co_resident && model == Model::ideal) continue;
    const bool possible = model == Model::ideal || can(overlap, mainloop, warpgroup);
    if (!possible && detail == Detail::totals) continue;
    std::optional<Pipelining> best;
    for (const auto stages : stages_of(overlap, mainloop, warpgroup, model)) {
      auto made = fitting.run(overlap, stages);
      const auto there = fitting.overlapping(made);
      made.runs = possible && there >= warpgroups_needed(overlap);
      const auto at_once = std::min(there, warpgroups_needed(overlap));
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

bool in_turn(Overlap overlap) { return overlap == Overlap::ping_pong_of_two || overlap == Overlap::ping_pong_of_three; }

std::string_view name(Resource resource) {
  constexpr std::string_view names[] = {"tensor", "fma", "sfu", "shared", "copy"};
  return names[static_cast<std::size_t>(resource)];
}
std::string_view name(Place place) {
  constexpr std::string_view names[] = {"shared", "registers", "tensor_memory"};
  return names[static_cast<std::size_t>(place)];
}
std::string_view name(Overlap overlap) {
  constexpr std::string_view names[] = {"none", "copies", "beside", "within_team", "two_teams", "three_teams"};
  return names[static_cast<std::size_t>(overlap)];
}
std::string_view words(Overlap overlap) {
  constexpr std::string_view all[] = {"no overlap",      "multistage",       "co-resident blocks",
                                      "intra-warpgroup", "ping-pong of two", "ping-pong of three"};
  return all[static_cast<std::size_t>(overlap)];
}

}  // namespace napkin
