// The last phase, of warpgroups: in which order blocks take the tiles of the grid, and what clusters share.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

// The rasterization of the model, for a kernel whose partition is fitted. Of tiles that all blocks of a cluster need,
// each block copies its part and multicasts it. Throws nothing.
void schedule_tiles(WarpNest&, const Kernel& fitted, const Hardware&);

}  // namespace napkin
