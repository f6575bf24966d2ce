// The model's order of pieces becomes a walk; and what a block that stays has to know of the tiles outside of all
// loops: from which step to which they are in use, so that those of the next piece can come.
#include "distribute/grid.hpp"

#include "diagram/match.hpp"
#include "distribute/distributing.hpp"
#include "timing/cluster.hpp"
#include "timing/raster.hpp"

namespace napkin {
namespace {

// Where masks pass over pieces of streams, some pieces of the grid are longer than others: then whoever is done first
// should have the next one, which is what a machine does with blocks that do not stay.
bool passes_over(const LoopBody& block) {
  return std::any_of(block.steps.begin(), block.steps.end(), [](const LoopStatement& step) {
    const auto* loop = std::get_if<For>(&step.node);
    return std::holds_alternative<MaskTest>(step.node) || (loop && (!loop->needs.empty() || passes_over(loop->body)));
  });
}

constexpr std::int64_t rows_of_pattern = 8;  // a swizzle begins anew after so many

// Blocks of a cluster wait for each other in every round of a loop: so they have the same ones.
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

}  // namespace

TileScheduler tile_scheduler_of(const Kernel& fitted, const Hardware& hardware) {
  TileScheduler scheduler;
  scheduler.persistent = !passes_over(lower(fitted, hardware).body);
  const auto step = mainloop_of(fitted, hardware);
  if (!step) return scheduler;
  join(scheduler, fastest_neighbours(*step, hardware, Model::machine, true), fitted);
  for (const auto& visited : best_order(*step, hardware)) {
    // A wire that comes a second time: runs of its pieces, for each of the wire between.
    if (contains(scheduler.order, visited.wire))
      scheduler.by = visited.pieces;
    else
      scheduler.order.push_back(visited.wire);
  }
  return scheduler;
}

void share_tiles(WarpNest& warps) {
  const auto& scheduler = warps.scheduler;
  for (auto& [id, tile] : warps.tiles) {
    const auto& at = warps.nest->at(id).at;
    const bool along = scheduler.along && moves(at, *scheduler.along);
    if (!along && tile.row && tile.layout.rows % (scheduler.cluster * rows_of_pattern) == 0)
      tile.shares = scheduler.cluster;
  }
}

void Distributing::find_outside() {
  const auto& steps = nest().body.steps;
  for (const auto& step : steps) {
    const auto* load = std::get_if<Load>(&step.node);
    if (!load || !result_.tiles.contains(load->to)) continue;
    TilePipeline pipeline{nullptr, {load->to}};
    for (const auto& each : steps) {
      if (!touches(each, load->to)) continue;
      if (!pipeline.first) pipeline.first = &each;
      pipeline.last = &each;
    }
    result_.pipelines.push_back(pipeline);
  }
}
bool Distributing::touches(const LoopStatement& step, BufferId tile) const {
  const auto inside = [&](const LoopStatement& each) { return touches(each, tile); };
  return match(
      step.node, [](const Load&) { return false; }, [](const MaskTest&) { return false; },
      [&](const Compute& compute) { return reads_tile(compute, tile); },
      [&](const Save& save) {
        const auto passing = result_.inlined.find(save.from);
        return passing != result_.inlined.end() && reads_tile(*passing->second, tile);
      },
      [&](const For& loop) { return std::any_of(loop.body.steps.begin(), loop.body.steps.end(), inside); });
}
// Itself, or what is computed in passing where it reads that.
bool Distributing::reads_tile(const Compute& compute, BufferId tile) const {
  return std::any_of(compute.reads.begin(), compute.reads.end(), [&](const auto& read) {
    if (is_input(read.second)) return staged(read.second) == tile;
    const auto passing = result_.inlined.find(read.second);
    return passing != result_.inlined.end() && reads_tile(*passing->second, tile);
  });
}

}  // namespace napkin
