// In which order the blocks of a launch come to the pieces of the grid, and whether they stay for several.
#pragma once

#include "napkin/distribute.hpp"

namespace napkin {

TileScheduler tile_scheduler_of(const Kernel& fitted, const Hardware&);
// Of a cluster each block copies its share of the tiles that all of them need.
void share_tiles(WarpNest&);

}  // namespace napkin
