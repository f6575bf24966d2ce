// Distributes a kernel over warps. Each phase has a header of its own, and `attempt` calls the phases in order. If a
// phase throws `Infeasible`, the partition is repaired and the next attempt begins.
#include "device/warpgroups/overlap.hpp"
#include "device/warpgroups/pipelines.hpp"
#include "device/warpgroups/stores.hpp"
#include "device/warpgroups/tile_scheduler.hpp"
#include "device/warps/grids.hpp"
#include "device/warps/operands.hpp"
#include "device/warps/products.hpp"
#include "device/warps/registers.hpp"
#include "device/warps/shared_memory.hpp"
#include "loops/passing.hpp"
#include "napkin/device.hpp"

namespace napkin {
namespace {

// The phases

WarpNest begin(const Lowered& lowered) {
  WarpNest found;
  found.partition = lowered.kernel.partition;
  found.nest = lowered.nest;
  found.block_level = lowered.block_level;
  found.warps = lowered.warps, found.issuing_warps = lowered.issuing_warps;
  found.blocks = lowered.blocks, found.planned_blocks = lowered.planned.blocks;
  found.planned_stages = lowered.planned.stages;
  found.keeps = lowered.planned.keeps;
  found.planned = lowered.planned.overlap;
  return found;
}
// Each phase reads what earlier phases found, and adds to it.
WarpNest attempt(const Attempt& attempted) {
  const auto lowered = lower(attempted);
  auto found = begin(lowered);
  found.products = find_products(lowered);
  const auto rows = find_rows(lowered, found.products);
  find_grids(found, lowered, rows);
  found.inlined = passing(*lowered.nest, [&](const Compute* compute) { return found.product(compute) != nullptr; });
  find_operands(found, lowered);
  if (lowered.by_warpgroups()) find_overlap(found, lowered);
  count_registers(found, lowered, rows);
  if (lowered.by_warpgroups()) {
    find_stores(found, lowered, rows);
    place_pipelines(found, lowered);
  } else {
    place_tiles(found, lowered);
  }
  return found;
}

// One attempt after another

// Places as many blocks on an SM at the same time as planned, or as many as fit.
WarpNest attempt_with_blocks(Attempt one) {
  auto alone = attempt(one);
  for (one.blocks = one.planned.blocks; one.blocks > 1; --one.blocks) try {
      return attempt(one);
    } catch (const Infeasible&) {
    }
  return alone;
}
// Fragments hold what streams of warps would stage, so that these streams are left out.
Partition without_streams_of_warps(Partition partition, const Hardware& hardware) {
  std::erase_if(partition.splits, [&](const Split& split) {
    return split.level == hardware.levels.size() - 1 && split.kind == SplitKind::stream;
  });
  return partition;
}
std::variant<WarpNest, Refused> fit(const Kernel& kernel, const Hardware& hardware, int issuing_warps,
                                    const Planned& planned, bool spreads) {
  const auto leaf = hardware.levels.size() - 1;
  auto fitted = kernel;
  fitted.partition = without_streams_of_warps(kernel.partition, hardware);
  align(fitted.partition, leaf);
  for (;;) {
    try {
      if (issuing_warps > 1) nest_pieces(fitted.partition, leaf);
      auto result = attempt_with_blocks({fitted, hardware, planned, issuing_warps});
      if (issuing_warps > 1) schedule_tiles(result, make_kernel(kernel.derivation, fitted.partition), hardware);
      return result;
    } catch (const Infeasible& why) {
      const auto before = fitted.partition;
      const bool repaired = repair(fitted.partition, why, kernel.program.scratch, leaf, issuing_warps, spreads);
      if (!repaired || fitted.partition == before || !illegal(*kernel.derivation, hardware, fitted.partition).empty())
        return Refused{why.reason, {}};
    }
  }
}
// Returns the number of positions in the innermost piece of a block, over all wires.
double piece_of(const Partition& partition, std::size_t leaf) {
  std::map<WireId, std::int64_t> pieces;
  for (const auto& split : partition.splits)
    if (split.level != leaf) pieces[split.wire] = split.size;
  double all = 1;
  for (const auto& [wire, size] : pieces) all *= static_cast<double>(size);
  return all;
}
// If pieces had to become shorter, tries again with more warps that share the same rows, and keeps the result with the
// longer pieces.
std::variant<WarpNest, Refused> distribute(const Kernel& kernel, const Hardware& hardware, int issuing_warps,
                                           const Planned& planned) {
  const auto leaf = hardware.levels.size() - 1;
  const auto length = [&](const auto& result) {
    const auto* nest = std::get_if<WarpNest>(&result);
    return nest ? piece_of(nest->partition, leaf) : 0;
  };
  auto shortened = fit(kernel, hardware, issuing_warps, planned, false);
  if (length(shortened) >= piece_of(kernel.partition, leaf)) return shortened;
  auto spread = fit(kernel, hardware, issuing_warps, planned, true);
  return length(spread) > length(shortened) ? spread : shortened;
}

}  // namespace

std::variant<WarpNest, Refused> distribute(const Kernel& kernel, const Hardware& hardware) {
  return distribute(kernel, hardware, 1, planned(kernel, hardware));
}
std::variant<WarpNest, Refused> distribute_warpgroups(const Kernel& kernel, const Hardware& hardware) {
  const auto plan = planned(kernel, hardware);
  const bool other = has_warpgroup_instructions(hardware.cuda_architecture) && !plan.by_warpgroups;
  return other ? Refused{} : distribute(kernel, hardware, warpgroup_warps, plan);
}
std::optional<Partition> other_tiles(const Kernel& kernel, const WarpNest& warps, const Hardware& hardware) {
  const bool same = without_streams_of_warps(kernel.partition, hardware) == warps.partition;
  return same ? std::nullopt : std::optional(warps.partition);
}
std::optional<Partition> other_tiles(const Kernel& kernel, const Hardware& hardware) {
  auto made = distribute_warpgroups(kernel, hardware);
  if (std::holds_alternative<Refused>(made)) made = distribute(kernel, hardware);
  if (const auto* warps = std::get_if<WarpNest>(&made)) return other_tiles(kernel, *warps, hardware);
  const auto over_warps = distribute_rows(kernel, hardware);
  const auto* rows = std::get_if<RowNest>(&over_warps);
  return rows ? other_tiles(kernel, *rows, hardware) : std::nullopt;
}
std::int64_t Grid::values() const {
  return (rows ? accumulator_tile.lane_rows : 1) * (columns ? accumulator_tile.lane_columns : 1) * row_tiles *
         column_tiles;
}

const Product* WarpNest::product(const Compute* compute) const {
  const auto found = std::ranges::find(products, compute, &Product::compute);
  return found == products.end() ? nullptr : &*found;
}
std::vector<BufferId> WarpNest::tiles_loaded(const LoopBody& block) const {
  std::vector<BufferId> loaded;
  for (const auto* load : own_statements<Load>(block))
    if (tiles.contains(load->to)) loaded.push_back(load->to);
  return loaded;
}
bool WarpNest::is_integer(BufferId id) const {
  return std::ranges::any_of(
      products, [&](const Product& p) { return p.compute->to == id && p.instruction->accumulator == Datatype::i32; });
}
bool WarpNest::lasts(const Compute* compute) const {
  return std::ranges::find(pipelines, compute, &TilePipeline::lasting) != pipelines.end();
}

}  // namespace napkin
