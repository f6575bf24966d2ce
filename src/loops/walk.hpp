// Visits the steps of a nest, and finds the tiles that other tiles are loaded from.
#pragma once

#include <map>

#include "loops/pieces.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// Calls `visit` for the steps in the order of the text, for a loop before the steps of its body.
template <class Visit>
void each_step(const LoopBody& block, const Visit& visit) {
  for (const auto& step : block.steps) {
    visit(step);
    if (const auto* loop = std::get_if<For>(&step.node)) each_step(loop->body, visit);
  }
}

// The statements of one kind that a body has itself, and those that it and its loops have, in the order of the text.
template <class Kind>
std::vector<const Kind*> own_statements(const LoopBody& block) {
  std::vector<const Kind*> all;
  for (const auto& step : block.steps)
    if (const auto* one = std::get_if<Kind>(&step.node)) all.push_back(one);
  return all;
}
template <class Kind>
std::vector<const Kind*> all_statements(const LoopBody& block) {
  std::vector<const Kind*> all;
  each_step(block, [&](const LoopStatement& step) {
    if (const auto* one = std::get_if<Kind>(&step.node)) all.push_back(one);
  });
  return all;
}

// The length of every wire, and of its piece inside all groups.
Lengths whole_lengths(const Diagram&);
Lengths lengths_in_groups(const LoopNest&);
// Shortens the piece of the split's wire to a piece of that split.
void shorten(Lengths&, const Split&);

// Calls `visit` with every statement, the body that contains it, and the lengths of pieces there.
template <class Visit>
void each_step(const LoopBody& block, const Lengths& lengths, const Visit& visit) {
  for (const auto& step : block.steps) {
    visit(step, block, lengths);
    if (const auto* loop = std::get_if<For>(&step.node)) {
      auto inside = lengths;
      shorten(inside, loop->split);
      each_step(loop->body, inside, visit);
    }
  }
}

// Whether results are saved in each iteration of a loop that carries no state between iterations.
bool saves_anew(const LoopNest&);

// For each tile that is loaded from a tile one level above, that other tile.
using TileSources = std::map<BufferId, BufferId>;
TileSources tile_sources(const LoopNest&);
// The tile at a given level through which the values of a tile are loaded, and the outermost such tile.
BufferId tile_at(const LoopNest&, const TileSources&, BufferId, std::size_t level);
BufferId outermost_tile(const TileSources&, BufferId);

}  // namespace napkin
