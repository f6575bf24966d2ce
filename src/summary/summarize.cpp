// Makes the summary of a kernel from its cost and its configuration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "napkin/summary.hpp"
#include "timing/labels.hpp"

namespace napkin {
namespace {

const std::string& wire_name(const Kernel& kernel, WireId wire) { return kernel.derivation->scratch.at(wire).name; }

void name_pieces(BlockTile& tile, const Kernel& kernel, std::size_t core) {
  std::vector<std::string> groups, streams;
  for (const auto& split : kernel.partition.splits) {
    if (split.level != core) continue;
    const auto& axis = wire_name(kernel, split.wire);
    if (split.kind == SplitKind::group)
      groups.push_back(fmt::format("{} {}", axis, split.size));
    else
      streams.push_back(fmt::format("{} by {}", axis, split.size));
  }
  tile.groups = fmt::format("{}", fmt::join(groups, ", "));
  tile.streams = fmt::format("{}", fmt::join(streams, ", "));
}

// Describes how the iterations of a block overlap, and with what.
std::string overlap_words(const Pipelining& chosen) {
  switch (chosen.overlap) {
    case Overlap::none:
      return "loads, products and other operations run one after another";
    case Overlap::multistage:
      return "loads overlap computing";
    case Overlap::co_resident:
      return "co-resident blocks overlap each other";
    case Overlap::intra_warpgroup:
      return "products overlap the other operations of the iteration before, within a warpgroup";
    case Overlap::ping_pong_of_two:
    case Overlap::ping_pong_of_three:
      return "ping-pong: one computes while another uses the tensor cores";
  }
  return "";
}

void configure_tile(BlockTile& tile, const Configuration& made) {
  const auto& chosen = made.pipelinings[made.chosen];
  const bool together = made.instruction.starts_with("wgmma");
  tile.warps = made.warpgroups * made.warpgroup_warps;
  tile.warpgroups = together ? made.warpgroups : 0;
  tile.copies = together && chosen.overlap != Overlap::none;
  tile.stages = chosen.stages;
  tile.overlap = overlap_words(chosen);
  tile.registers_per_thread = chosen.occupancy.registers_per_thread;
  tile.shared_bytes = chosen.shared_bytes;
  tile.blocks_per_core = chosen.occupancy.blocks;
  for (const auto& cluster : made.clusters)
    if (cluster.chosen) tile.cluster = cluster.blocks;
  if (!made.launch) return;
  tile.waves = made.launch->waves;
  tile.last_wave_busy = made.launch->last_wave_busy;
}

// Without a configuration, the tile of a kernel follows from what its levels hold.
void count_blocks(BlockTile& tile, const KernelCost& cost, const Hardware& hardware, std::size_t core) {
  const auto& level = cost.levels.at(core - 1);
  tile.blocks = level.groups;
  tile.cores = hardware.total(core);
  tile.shared_bytes = level.memory_bytes;
}

BlockTile tile_of(const Kernel& kernel, const KernelCost& cost, const std::optional<Configuration>& configured,
                  const Hardware& hardware) {
  const auto core = hardware.core.value_or(1);
  BlockTile tile;
  tile.partition = to_text(kernel.partition, kernel.derivation->scratch, hardware);
  name_pieces(tile, kernel, core);
  if (core <= cost.levels.size()) count_blocks(tile, cost, hardware, core);
  if (configured) configure_tile(tile, *configured);
  return tile;
}

// Returns why more operations are executed than needed: arrays of the file that every group of a split computes, and
// pieces of which a mask lets only a part through.
std::vector<std::string> reasons_for_more(const Kernel& kernel, const KernelCost& cost) {
  const auto& derivation = *kernel.derivation;
  std::vector<std::string> all;
  for (const auto& split : kernel.partition.splits) {
    const auto* verdict = derivation.find(split.wire);
    const auto* group = verdict ? verdict->groupable() : nullptr;
    const bool whole = split.size >= derivation.scratch.size(split.wire).value_or(split.size);
    if (split.kind != SplitKind::group || !group || whole) continue;
    std::vector<std::string> names;
    for (const auto array : group->recomputed)
      if (array.index < derivation.file_arrays) names.push_back(derivation.scratch.at(array).name);
    if (!names.empty())
      all.push_back(
          fmt::format("every group of {} computes {} again", wire_name(kernel, split.wire), fmt::join(names, ", ")));
  }
  if (!cost.masks.empty()) all.emplace_back("tiles on the edge of a mask are computed whole");
  return all;
}

}  // namespace

KernelSummary summarize(const Kernel& kernel, const KernelCost& cost, const std::optional<Configuration>& configured,
                        const Hardware& hardware, Model model, bool of_products) {
  KernelSummary made;
  for (const auto id : kernel.derivation->statements)
    made.statements.push_back(kernel.derivation->scratch.at(kernel.derivation->scratch.at(id).output).name);
  made.time_s = cost.time_s;
  made.bound = bound_words(cost);
  made.tile = tile_of(kernel, cost, configured, hardware);
  made.operations = operations_of(kernel, cost, hardware, of_products);
  if (made.operations.executed > made.operations.useful) made.again = reasons_for_more(kernel, cost);
  made.causes = causes(cost, configured ? configured->launch : std::nullopt, hardware);
  made.traffic = crossings(kernel, cost, hardware, model);
  made.bytes = moved_bytes(made.traffic, hardware);
  // In the paper's model, the times of units are those of the cores that have a block.
  for (const auto& unit : cost.units)
    if (const auto& seconds = model == Model::ideal ? unit.ideal_time_s : unit.time_s)
      made.units.push_back({unit.unit, *seconds});
  made.products = matrix_products(kernel, hardware, model);
  if (configured)
    for (const auto& one : configured->neighbours)
      made.pieces.push_back({one.axis, one.kind, one.size, one.runs ? one.time_s : std::nullopt, one.why_not});
  return made;
}

}  // namespace napkin
