// The seventh phase, of warpgroups: which outputs leave through shared memory. Each warpgroup writes its rows of a tile
// there, and TMA copies the tile into the array while the warpgroup goes on.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

struct Stores {
  Tiles tiles;
  std::string none_because;  // why some outputs leave from registers
};
// Takes grids. Throws nothing: any output can leave from registers.
Stores find_stores(const Lowered&, const std::map<BufferId, Grid>& arrays, WireId rows);

}  // namespace napkin
