// Time of a launch, from the time of a step.
#pragma once

#include "configure/pipelining.hpp"

namespace napkin {

// Of a core that is always at work, how much longer the core takes that is done last. Blocks of one length are done
// when the core with most of them is. Where masks make their lengths differ they fill each other's gaps, but for a
// part of a block at the end. The least is what no lengths of blocks go below.
double raggedness(const Demand&, const Hardware&, std::int64_t cores);
double least_raggedness(const Demand&, std::int64_t cores);

// `ideal` are the clocks at datasheet rates, `ideal_s` the time of a machine of which every part does nothing but its
// own work; the lines of what is lost begin there. Without Detail::columns there are no lines.
Launch launch_of(const BlockStep&, const Team&, const Pipelining& chosen, const StepClocks& now,
                 const StepClocks& ideal, const Demand&, double ideal_s, const Hardware&, Model,
                 Detail = Detail::totals);

}  // namespace napkin
