// The ways to overlap the columns of a step, each with what it needs and how long it takes.
#pragma once

#include "timing/clocks.hpp"

namespace napkin {

// Every overlap for one way to divide the rows, where a core gets at most so many blocks of the launch; in totals
// without those that this machine cannot have.
std::vector<Pipelining> pipelinings(const Mainloop&, const RowDivision&, const IterationClocks&, const Variables&,
                                    const LaneRegisters&, const Hardware&, Model, std::int64_t most_blocks, Detail);
// Of a thread, where a warpgroup's arrays take so many bytes, as the paper counts.
std::int64_t registers_of_thread(std::int64_t warpgroup_bytes, const RowDivision&, const Hardware&);
// On a chip, of all rows that instructions hold: as napkin prints kernels; or packed, with the registers that a profile
// says a thread has beside.
std::int64_t registers_of_lane(const Variables&, const LaneRegisters&, const RowDivision&, LaneRegisters::Order,
                               const Hardware&);
// Of so many blocks on a core: all their warpgroups, or the blocks, where nothing makes warpgroups take turns. Those of
// one block wait for its tiles together, and so do the same at the same time.
std::int64_t overlapping(Overlap, std::int64_t blocks, const RowDivision&);

// A step of one of so many blocks on the core is no shorter, for its tiles are on their way.
double waits_for_tiles(const Mainloop&, const Pipelining&, std::int64_t blocks, const IterationClocks&, const Hardware&,
                       Model);
// A step where so many of them share the core.
double step_seconds(Overlap, const IterationClocks&, std::int64_t overlapping);

}  // namespace napkin
