// The ways to overlap the columns of a step, each with what it needs and how long it takes.
#pragma once

#include "configure/clocks.hpp"

namespace napkin {

// Every overlap for one way to deal out the rows, where a core gets at most so many blocks of the launch; in totals
// without those that this machine cannot have.
std::vector<Pipelining> pipelinings(const BlockStep&, const Team&, const StepClocks&, const Variables&, const Hardware&,
                                    Model, std::int64_t most_blocks, Detail);
// What `Pipelining::timeline` holds; `clocks` know their columns.
std::vector<Pipelining::Event> timeline(const BlockStep&, const StepClocks& clocks, Overlap);
// What a thread needs where a team's rows take so many bytes in registers: on a chip, of all rows that instructions
// hold, and addresses too.
std::int64_t registers_of_thread(std::int64_t team_bytes, const Team&, const Hardware&, Model);
// Teams that share one core: those of all blocks on it.
std::int64_t teams_on_core(const Pipelining&, const Team&, Model);

// A step where so many teams share the core.
double step_seconds(Overlap, const StepClocks&, std::int64_t teams);

}  // namespace napkin
