// The time of a launch, from the time of an iteration.
#pragma once

#include "timing/pipelining.hpp"

namespace napkin {

// The number of blocks that the last core to finish runs one after another: while all cores are busy, and in a last
// round. If blocks have one length, that is the core with most blocks. If masks make lengths differ, blocks fill each
// other's gaps, except for a part of a block at the end, and of each block resident with it.
struct Rounds {
  double full = 0, last = 0;
  double all() const { return full + last; }
};
Rounds rounds_of(const Demand&, const Hardware&, double blocks_at_once);
Rounds least_rounds(const Demand&);  // a lower bound for any lengths of blocks
// The share of the cores that have a block in the last round.
double last_round(const Demand&);

// `ideal` are the clocks at datasheet rates. `ideal_s` is the time of a machine on which no part waits for another; the
// losses add up from there. Without Detail::columns there are no losses.
Launch launch_of(const OnCore&, const Pipelining& chosen, const IterationClocks& now, const IterationClocks& ideal,
                 const Demand&, double ideal_s, Detail = Detail::totals);

}  // namespace napkin
