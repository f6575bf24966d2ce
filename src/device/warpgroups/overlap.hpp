// The fifth phase, of warpgroups: which operations of an iteration overlap which, as the configuration says.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

// The least number of warpgroups that may take turns among themselves such that all warpgroups of a block do; 0 if the
// block has fewer than the overlap names.
std::int64_t ping_pong_groups(Overlap, std::int64_t warpgroups);

// The mainloop is cut where products that need only loaded tiles meet columns that wait for them. Takes products and
// tiles. Throws nothing: without an overlap the kernel is only slower.
void find_overlap(WarpNest&, const Lowered&);

}  // namespace napkin
