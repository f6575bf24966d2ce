// Every step of a nest, and the tiles that others are loaded from.
#pragma once

#include <map>

#include "loops/pieces.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// Calls `visit` for the steps in the order of the text, a loop before what stands in it.
template <class Visit>
void each_step(const LoopBody& block, const Visit& visit) {
  for (const auto& step : block.steps) {
    visit(step);
    if (const auto* loop = std::get_if<For>(&step.node)) each_step(loop->body, visit);
  }
}

// How long the piece of every wire is inside of all groups; and of a split's wire, inside of that.
Lengths lengths_in_groups(const LoopNest&);
void shorten(Lengths&, const Split&);

// Whether results leave in each round of a loop that carries no state from round to round.
bool saves_anew(const LoopNest&);

// Of tiles that are loaded from a tile one level up, that one.
using TileSources = std::map<BufferId, BufferId>;
TileSources tile_sources(const LoopNest&);
// Where a tile's values come through at a level, and at the first one that has a tile of them.
BufferId tile_at(const LoopNest&, const TileSources&, BufferId, std::size_t level);
BufferId outermost_tile(const TileSources&, BufferId);

}  // namespace napkin
