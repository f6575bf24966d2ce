// Time of a launch, from the time of a step.
#pragma once

#include "configure/pipelining.hpp"

namespace napkin {

// None where the machine has no rates. `ideal` are the clocks at datasheet rates.
std::optional<Launch> launch_of(const BlockStep&, const Team&, const Pipelining&, const StepClocks& now,
                                const StepClocks& ideal, const KernelCost&, const Hardware&, Model);

}  // namespace napkin
