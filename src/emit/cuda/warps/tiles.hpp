// Tiles of inputs in shared memory.
#pragma once

#include <vector>

#include "emit/cuda/page.hpp"

namespace napkin {

// Pointers to the tiles' places in the block's shared memory.
void declare_tiles(Page&);
// All threads of the block load the tiles together; with `reused` they first wait for those that still read.
void load_tiles(Page&, const std::vector<BufferId>& tiles, bool reused);
// "Q_smem[(q - q0) * 128 + d]", one value of a tile, given its place in the array.
// The first place that an index reaches over the pieces, or the one past the last.
std::string corner(const Index&, const WirePieces&, bool past);
std::string tile_element(const Page&, BufferId, const std::vector<std::string>& at);

}  // namespace napkin
