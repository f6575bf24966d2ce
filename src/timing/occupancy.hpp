// How many blocks and warps are resident on one core.
#pragma once

#include "loops/pieces.hpp"
#include "napkin/timing.hpp"

namespace napkin {

// A count of a profile as an integer; `otherwise` if the profile does not state it.
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

// As the chip allocates: registers to whole warps in units, each warp from one partition; shared memory in units, with
// the reserve of each block.
Residents residents(const BlockNeeds&, const Hardware&);
std::int64_t warps_at(std::int64_t registers_per_thread, const Hardware&);

// Registers of a lane if one more warpgroup copies tiles, with `blocks` blocks on a core: at the beginning of a block,
// and, if that is less than lanes can use, what the copying warpgroup keeps and what the others then have. They are
// multiples of 8, as setmaxnreg requires.
struct WarpgroupShares {
  std::int64_t first = 0, lanes = 0, copying = 0;  // `lanes` and `copying` 0: all keep `first`
};
WarpgroupShares shares_of_warpgroups(std::int64_t warpgroups, std::int64_t blocks, const Hardware&);

// The most registers of a thread at each number of warps, fewest registers first.
std::vector<std::pair<std::int64_t, std::int64_t>> register_ladder(const Hardware&);

}  // namespace napkin
