// The eighth phase, of warpgroups: which tiles form a pipeline, how many stages it has, and where everything lies in
// shared memory.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

// Finds the pipelines, and gives all tiles their stages and places. Takes products, inlined columns, tiles, the overlap
// and stores. Throws if tiles do not fit into shared memory with the fewest stages.
void place_pipelines(WarpNest&, const Lowered&);

}  // namespace napkin
