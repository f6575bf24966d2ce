// What the configuration of a kernel says of a step's products: whether they run beside other columns.
#pragma once

#include "napkin/timing.hpp"

namespace napkin {

// As the launch is fastest in the model of the machine, of the kernel as it is split among cores, for warpgroups are
// dealt anew: what overlaps, `none` where it does not run there; how many blocks are beside each other on a core; how
// many copies there are of tiles of a stream; whether registers keep operands that outlive it; and which wire is dealt
// out to warpgroups, so many rows to each.
struct Planned {
  Overlap overlap = Overlap::none;
  std::int64_t blocks = 1, stages = 1;
  bool keeps = false;
  std::optional<WireId> rows{};
  std::int64_t warpgroup_rows = 0;
  bool by_warpgroups = true;  // instructions of warpgroups; else of single warps
  bool within = false;        // columns of a warpgroup overlap
};
Planned planned(const Kernel&, const Hardware&);
bool in_turn(Overlap);
// The least number of warpgroups that may take turns among themselves and shares out all warpgroups of a block; 0 where
// the block has fewer than the overlap names.
std::int64_t ping_pong_groups(Overlap, std::int64_t warpgroups);

}  // namespace napkin
