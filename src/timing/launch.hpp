// Time of a launch, from the time of a step.
#pragma once

#include "timing/pipelining.hpp"

namespace napkin {

// Blocks that the core which is done last runs one after another: while all cores are at work, and in a last round.
// Blocks of one length are done when the core with most of them is. Where masks make their lengths differ they fill
// each other's gaps, but for a part of a block at the end, and of each that is on the core with it.
struct Rounds {
  double full = 0, last = 0;
  double all() const { return full + last; }
};
Rounds rounds_of(const Demand&, const Hardware&, double blocks_at_once);
Rounds least_rounds(const Demand&);  // what no lengths of blocks go below
// The share of the cores that have a block in the last round.
double last_round(const Demand&);

// `ideal` are the clocks at datasheet rates, `ideal_s` the time of a machine of which every part does nothing but its
// own work; the lines of what is lost begin there. Without Detail::columns there are no lines.
Launch launch_of(const Mainloop&, const RowDivision&, const Pipelining& chosen, const IterationClocks& now,
                 const IterationClocks& ideal, const Demand&, double ideal_s, const Hardware&, Model,
                 Detail = Detail::totals);

}  // namespace napkin
