// How many blocks and warps one core takes.
#pragma once

#include "loops/pieces.hpp"
#include "napkin/timing.hpp"

namespace napkin {

// A number of a profile that counts, or another one where the profile does not state it.
std::int64_t whole(const std::optional<Sourced<double>>&, std::int64_t otherwise);

struct BlockNeeds {
  std::int64_t warps = 1;
  std::int64_t registers_per_thread = 1;
  std::int64_t shared_bytes = 0;
};
struct Residents {
  std::int64_t blocks = 0;
  std::string limited_by;
};

bool knows_occupancy(const Hardware&);

// As the chip allocates: registers to whole warps in units, each warp from one partition; shared memory in units and
// with what is reserved for each block.
Residents residents(const BlockNeeds&, const Hardware&);
std::int64_t warps_at(std::int64_t registers_per_thread, const Hardware&);

// Registers of a lane where one more warpgroup copies tiles, of so many blocks on a core: what a block begins with,
// and, where that is less than lanes can use, what the warpgroup that copies keeps and the others have then; in
// multiples of 8, as they are handed over.
struct WarpgroupShares {
  std::int64_t first = 0, lanes = 0, copying = 0;  // 0: all keep what they began with
};
WarpgroupShares shares_of_warpgroups(std::int64_t warpgroups, std::int64_t blocks, const Hardware&);

// The most registers of a thread at each number of warps, few registers first.
std::vector<std::pair<std::int64_t, std::int64_t>> register_ladder(const Hardware&);

}  // namespace napkin
