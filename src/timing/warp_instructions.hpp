// The instructions of single warps that no resource counts: they bring tiles, and one warp waits for its own results.
#pragma once

#include "timing/clocks.hpp"

namespace napkin {

// Adds to the clocks of an iteration how long the instructions of one warp take if it waits for each of them, and how
// long the schedulers of a core need to issue those of all warps of the block. Nothing is added for warpgroups.
void count_warp_instructions(const OnCore&, double clock_hz, IterationClocks&);
// The least time between iterations of a block if `blocks` are on the core and each waits for its own instructions and,
// with a single stage, for its tiles.
double waits_for_instructions(const OnCore&, const Pipelining&, std::int64_t blocks, const IterationClocks&);

}  // namespace napkin
