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
bool passes_over(const Block& block) {
  return std::any_of(block.steps.begin(), block.steps.end(), [](const Nest& step) {
    const auto* loop = std::get_if<For>(&step.node);
    return std::holds_alternative<Ask>(step.node) || (loop && (!loop->needs.empty() || passes_over(loop->body)));
  });
}

constexpr std::int64_t rows_of_pattern = 8;  // a swizzle begins anew after so many

// Blocks of a cluster wait for each other in every round of a loop: so they have the same ones.
void join(Walk& walk, const Neighbours& neighbours, const Kernel& fitted) {
  if (neighbours.blocks < 2) return;
  const auto streams_along = [&](const Split& split) {
    return split.kind == SplitKind::stream && split.wire == *neighbours.along;
  };
  if (!walk.stays) {
    walk.alone_because = "masks make some tiles take longer than others";
  } else if (std::ranges::any_of(fitted.partition.splits, streams_along)) {
    walk.alone_because = "their blocks would stream the axis along which they are neighbours";
  } else {
    walk.cluster = neighbours.blocks;
    walk.along = neighbours.along;
  }
}

}  // namespace

Walk walk_of(const Kernel& fitted, const Hardware& hardware) {
  Walk walk;
  walk.stays = !passes_over(lower(fitted, hardware).body);
  const auto step = step_of(fitted, hardware);
  if (!step) return walk;
  join(walk, fastest_neighbours(*step, hardware, Model::machine, true), fitted);
  for (const auto& visited : best_order(*step, hardware)) {
    // A wire that comes a second time: runs of its pieces, for each of the wire between.
    if (contains(walk.order, visited.wire))
      walk.by = visited.pieces;
    else
      walk.order.push_back(visited.wire);
  }
  return walk;
}

void share_tiles(WarpNest& warps) {
  const auto& walk = warps.walk;
  for (auto& [id, tile] : warps.tiles) {
    const auto& at = warps.nest->at(id).at;
    const bool along = walk.along && moves(at, *walk.along);
    if (!along && tile.row && tile.layout.rows % (walk.cluster * rows_of_pattern) == 0) tile.shares = walk.cluster;
  }
}

void Distributing::find_outside() {
  const auto& steps = nest().body.steps;
  for (const auto& step : steps) {
    const auto* load = std::get_if<Load>(&step.node);
    if (!load || !result_.tiles.contains(load->to)) continue;
    Ring ring{nullptr, {load->to}};
    for (const auto& each : steps) {
      if (!touches(each, load->to)) continue;
      if (!ring.first) ring.first = &each;
      ring.last = &each;
    }
    result_.rings.push_back(ring);
  }
}
bool Distributing::touches(const Nest& step, BufferId tile) const {
  const auto inside = [&](const Nest& each) { return touches(each, tile); };
  return match(
      step.node, [](const Load&) { return false; }, [](const Ask&) { return false; },
      [&](const Compute& compute) { return reads_tile(compute, tile); },
      [&](const Save& save) {
        const auto passing = result_.in_passing.find(save.from);
        return passing != result_.in_passing.end() && reads_tile(*passing->second, tile);
      },
      [&](const For& loop) { return std::any_of(loop.body.steps.begin(), loop.body.steps.end(), inside); });
}
// Itself, or what is computed in passing where it reads that.
bool Distributing::reads_tile(const Compute& compute, BufferId tile) const {
  return std::any_of(compute.reads.begin(), compute.reads.end(), [&](const auto& read) {
    if (is_input(read.second)) return staged(read.second) == tile;
    const auto passing = result_.in_passing.find(read.second);
    return passing != result_.in_passing.end() && reads_tile(*passing->second, tile);
  });
}

}  // namespace napkin
