// Blocks that run at once and read the same tile: one of them brings it from memory, the others find it in the cache.
#pragma once

#include "configure/step.hpp"

namespace napkin {

// The cache in front of the core's memory; null where there is none with a bandwidth.
const Cache* cache_of(const BlockStep&, const Hardware&);

// Of the blocks that run at once, one on every core, in the order of the grid (the last group fastest): the share that
// reads this tile first.
double first_readers(const BlockStep&, BufferId tile, const Hardware&);

}  // namespace napkin
