// The seventh phase, of warpgroups: which outputs leave through shared memory. Each warpgroup writes its rows of a tile
// there, and TMA copies the tile into the array while the warpgroup goes on.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

// Takes grids. Throws nothing: any output can leave from registers.
void find_stores(WarpNest&, const Lowered&, WireId rows);

}  // namespace napkin
