// Blocks that run at once and read the same tile: one of them brings it from memory, the others find it in the cache.
#pragma once

#include "napkin/timing.hpp"
#include "timing/mainloop.hpp"

namespace napkin {

// The cache in front of the core's memory; null where there is none with a bandwidth.
const Cache* cache_of(const Mainloop&, const Hardware&);

// How the blocks of one memory follow each other: pieces of groups, the last fastest. A group may stand twice, for
// blocks of its pieces and for the pieces in one.
struct Visited {
  WireId wire;
  std::int64_t pieces = 1;
};
using VisitOrder = std::vector<Visited>;
VisitOrder as_written(const Mainloop&);

// Of the blocks that run at once, one on every core: the share that reads this tile first.
double first_readers(const Mainloop&, BufferId tile, const Hardware&);
double first_readers(const Mainloop&, BufferId tile, const VisitOrder&, const Hardware&);

// Every order of the groups, and two of them in blocks of each other; as written first. Empty without a cache, or where
// there is one order.
std::vector<Raster> rasters(const Mainloop&, const Hardware&);
// The first of those that bring least from memory; empty where there are none.
VisitOrder best_order(const Mainloop&, const Hardware&);

}  // namespace napkin
