// The ways to overlap the columns of an iteration, each with its needs and its time.
#pragma once

#include "timing/clocks.hpp"

namespace napkin {

constexpr std::int64_t barrier_bytes = 8;  // of one barrier in shared memory

// Every overlap for one way to divide the rows, if a core gets at most `most_blocks` blocks of the launch. With
// Detail::totals, without overlaps that are impossible on this machine.
std::vector<Pipelining> pipelinings(const OnCore&, const IterationClocks&, const Variables&, const LaneRegisters&,
                                    std::int64_t most_blocks, Detail);
// The registers of a thread if the arrays of a warpgroup need this number of bytes, as the paper counts.
std::int64_t registers_of_thread(std::int64_t warpgroup_bytes, const RowDivision&, const Hardware&);
// The registers of a lane on a chip, for all rows that instructions hold, as in napkin's kernels; or packed, plus the
// additional registers of a thread that a profile states.
std::int64_t registers_of_lane(const Variables&, const LaneRegisters&, const RowDivision&, LaneRegisters::Order,
                               const Hardware&);
// What overlaps if `blocks` blocks are on a core: all their warpgroups; or the blocks, if nothing makes warpgroups take
// turns. In that case the warpgroups of a block wait for its tiles together, and then do the same at the same time.
std::int64_t overlapping(Overlap, std::int64_t blocks, const RowDivision&);

// A lower bound of an iteration of one of `blocks` blocks on the core: the time until its tiles arrive, and that of the
// instructions for which a warp waits.
double least_iteration(const OnCore&, const Pipelining&, std::int64_t blocks, const IterationClocks&);
// The time of an iteration if `overlapping` of them share the core.
double step_seconds(Overlap, const IterationClocks&, std::int64_t overlapping);

}  // namespace napkin
