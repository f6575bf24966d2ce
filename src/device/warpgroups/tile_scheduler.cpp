// Gives the tile scheduler the order of tiles that is best in the model.
#include "device/warpgroups/tile_scheduler.hpp"

#include "timing/cluster.hpp"
#include "timing/raster.hpp"

namespace napkin {
namespace {

constexpr std::int64_t rows_of_pattern = 8;  // after which a swizzle repeats

// Masks skip tiles of streams. Some tiles of the grid then take longer than others, and the block that is done first
// should have the next one. The hardware does that for blocks that are not persistent.
bool skips_tiles(const LoopNest& nest) {
  const auto has_needs = [](const For* loop) { return !loop->needs.empty(); };
  return !all_statements<MaskTest>(nest.body).empty() || std::ranges::any_of(all_statements<For>(nest.body), has_needs);
}
// Blocks of a cluster wait for each other in every iteration, so that all of them must have the same iterations.
void join(TileScheduler& scheduler, const Neighbours& neighbours, const Kernel& fitted) {
  if (neighbours.blocks < 2) return;
  const auto streams_along = [&](const Split& split) {
    return split.kind == SplitKind::stream && split.wire == *neighbours.along;
  };
  if (!scheduler.persistent) {
    scheduler.alone_because = "masks make some tiles take longer than others";
  } else if (std::ranges::any_of(fitted.partition.splits, streams_along)) {
    scheduler.alone_because = "their blocks would stream the axis along which they are neighbours";
  } else {
    scheduler.cluster = neighbours.blocks;
    scheduler.along = neighbours.along;
  }
}

TileScheduler scheduler_of(const Kernel& fitted, const Hardware& hardware) {
  TileScheduler scheduler;
  scheduler.persistent = !skips_tiles(lower(fitted, hardware));
  const auto step = mainloop_of(fitted, hardware);
  if (!step) return scheduler;
  join(scheduler, CorePath{*step, hardware, Model::machine, true}.fastest_neighbours(), fitted);
  for (const auto& visited : best_order(*step, hardware)) {
    // A wire that comes a second time is cut into runs of tiles, one for each tile of the wire between.
    if (contains(scheduler.order, visited.wire))
      scheduler.by = visited.pieces;
    else
      scheduler.order.push_back(visited.wire);
  }
  return scheduler;
}

}  // namespace

void schedule_tiles(WarpNest& found, const Kernel& fitted, const Hardware& hardware) {
  const auto& scheduler = found.scheduler = scheduler_of(fitted, hardware);
  for (auto& [id, tile] : found.tiles) {
    const bool along = scheduler.along && moves(found.nest->at(id).at, *scheduler.along);
    if (!along && tile.row && tile.layout.rows % (scheduler.cluster * rows_of_pattern) == 0)
      tile.shares = scheduler.cluster;
  }
}

}  // namespace napkin
