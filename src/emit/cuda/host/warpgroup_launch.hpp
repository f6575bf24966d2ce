// What the host prepares for a warpgroup kernel: the boxes of its tensor maps, and conditions on sizes.
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/kernel.hpp"
#include "napkin/device.hpp"

namespace napkin {

// How TMA sees the array of a tile: the box that is copied at once, slowest dimension first, and the bytes within which
// the swizzle exchanges chunks; 0 without swizzle.
struct TileMap {
  ArrayId array;
  std::vector<std::int64_t> box;
  std::int64_t swizzle = 0;
};
std::vector<TileMap> tile_maps(const WarpNest&);
std::vector<TileMap> store_maps(const WarpNest&);  // for the outputs that are stored through shared memory
// Conditions on sizes under which TMA fills in 0 behind the last position of the axis that two tiles are contracted
// along: either its pieces are whole, or the array ends there. For example, behind the last `i` of `K[16 * c + i]` lie
// the numbers of the next `c`.
std::vector<std::string> zero_behind(const WarpNest&, const CodeNames&);
// The inputs that columns read directly from global memory, through pointers of their own.
std::vector<ArrayId> read_in_place(const WarpNest&);

}  // namespace napkin
