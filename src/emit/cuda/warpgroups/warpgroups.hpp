// One kernel of a plan as a __global__ function for warpgroups: tiles are copied by TMA into pipelines, by a
// warpgroup that does nothing else, and products run by wgmma.
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/kernel.hpp"
#include "napkin/device.hpp"

namespace napkin {

// How the copies of one tile see its array: the box that is copied at once, slowest dimension first, and the bytes
// within which its chunks change places; 0 where they stay.
struct TileMap {
  ArrayId array;
  std::vector<std::int64_t> box;
  std::int64_t swizzle = 0;
};
std::vector<TileMap> tile_maps(const WarpNest&);
std::vector<TileMap> store_maps(const WarpNest&);  // of the outputs that leave through shared memory
// Conditions on sizes under which copies by TMA bring 0 behind the last position that two tiles are contracted along:
// its pieces are whole, or the array ends there. Behind the last `i` of `K[16 * c + i]` stand the numbers of the next
// `c`.
std::vector<std::string> zero_behind(const WarpNest&, const CodeNames&);
// The inputs that its columns read where they are, by their own pointers.
std::vector<ArrayId> read_in_place(const WarpNest&);

ThreadedKernel warpgroup_launch(const WarpNest&, const Hardware&);
PrintedKernel warpgroup_kernel(const ThreadedKernel&, const WarpNest&, const CodeNames&, const std::string& name);

}  // namespace napkin
