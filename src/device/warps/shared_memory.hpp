// The seventh phase, of single warps: where tiles lie in shared memory, and which are copied iterations ahead.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

// Gives the tiles their stages and places, and finds the loops that are pipelined. Throws if the tiles do not fit into
// shared memory with the fewest stages.
void place_tiles(WarpNest&, const Lowered&);

// True if a body loads tiles, and no loop inside of it does.
bool loads_innermost(const WarpNest&, const LoopBody&);
// The bytes of all stages of a tile that begins at multiples of `alignment`.
std::int64_t bytes_of(const StagedTile&, std::int64_t alignment);
// What one block may use if those that should run at the same time share the SM's shared memory.
std::int64_t block_room(const Lowered&);
Infeasible too_large(const Lowered&, std::int64_t bytes, std::int64_t room);

}  // namespace napkin
