// Who does what when in a step.
#pragma once

#include "timing/clocks.hpp"

namespace napkin {

// What `Pipelining::timeline` holds; `clocks` know their columns.
std::vector<Pipelining::Event> timeline(const Mainloop&, const IterationClocks& clocks, Overlap);

}  // namespace napkin
