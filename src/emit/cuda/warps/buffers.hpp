// What a loop body of a kernel on matrix units holds: computed arrays in registers, and tiles of inputs in shared
// memory.
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/warps/fragments.hpp"

namespace napkin {

// Declares the block's shared memory and the tiles in it.
void declare_shared_tiles(FragmentPage&);
// Declares what lives in the loop body.
void declare_buffers(FragmentPage&, const LoopBody&);
// Declares a register for a single number of an input, if the block needs one.
void read_single(FragmentPage&, const Load&);
// A number of an array at one place, read once for all threads of the block.
std::string read_once(const Page&, ArrayId, const std::vector<std::string>& at);

// The tiles of inputs that a column reads.
std::vector<BufferId> tiles_read(const Page&, const Compute&);
// "K_tile", the pointer to the current stage of a tile in shared memory, and the declaration of it.
std::string tile_pointer(const Page&, BufferId);
void declare_pointer(FragmentPage&, BufferId, const std::string& place);
// The address of stage `number` of a tile, and the declarations of pointers to that stage of some tiles.
std::string stage_address(const FragmentPage&, BufferId, const std::string& number);
void declare_stages(FragmentPage&, const std::vector<BufferId>& tiles, const std::string& number);
// "napkin_place<128, 3>(row, column)".
std::string tile_place(const SharedTile&, const std::string& row, const std::string& column);

}  // namespace napkin
