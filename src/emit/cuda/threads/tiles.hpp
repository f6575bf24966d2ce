// Tiles of inputs in shared memory, which the threads of a block load together.
#pragma once

#include <vector>

#include "emit/cuda/page.hpp"

namespace napkin {

// Declares pointers to the tiles in the block's shared memory.
void declare_tiles(Page&);
// All threads of the block load the tiles together. With `reused` they first wait for threads that still read the old
// tiles.
void load_tiles(Page&, const std::vector<BufferId>& tiles, bool reused);
// "Q_smem[(q - q0) * 128 + d]", one value of a tile, given its place in the array.
std::string tile_element(const Page&, BufferId, const std::vector<std::string>& at);

}  // namespace napkin
