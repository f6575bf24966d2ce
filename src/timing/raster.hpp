// Blocks that run at once and read the same tile: one of them loads it from memory, the others find it in the cache.
#pragma once

#include "napkin/timing.hpp"
#include "timing/mainloop/mainloop.hpp"

namespace napkin {

// The cache in front of the core's memory; null if there is none with a bandwidth.
const Cache* cache_of(const Mainloop&, const Hardware&);

// The order of the blocks of one memory: pieces of groups, the last fastest. A group may occur twice: once for runs of
// its pieces, and once for the pieces within a run.
struct Visited {
  WireId wire;
  std::int64_t pieces = 1;
};
using VisitOrder = std::vector<Visited>;
VisitOrder as_written(const Mainloop&);

// The share of the blocks that run at once, one on every core, that are the first to read this tile.
double first_readers(const Mainloop&, BufferId tile, const Hardware&);
double first_readers(const Mainloop&, BufferId tile, const VisitOrder&, const Hardware&);

// Every order of the groups, and orders in which two of them are tiled; the order as written comes first. Empty without
// a cache, or if there is only one order.
std::vector<Raster> rasters(const Mainloop&, const Hardware&);
// The first order that loads least from memory; empty if there is none.
VisitOrder best_order(const Mainloop&, const Hardware&);

}  // namespace napkin
