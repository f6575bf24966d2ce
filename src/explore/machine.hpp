// The time of a kernel as it is split, wherever its plan is looked at.
#pragma once

#include <optional>

#include "napkin/explore.hpp"

namespace napkin {

// None where it does not fit, or the machine does not tell times.
std::optional<double> seconds_of(const Kernel&, const Hardware&, Model);
// None where no block of a core can run it either, or what it holds there does not fit.
std::optional<double> seconds_if_it_runs(const Kernel&, const Hardware&, Model);

// What twice as much of each thing gains where no kernel is split anew: no search, so that it takes moments.
Sensitivity as_split_now(const Plan&, const Hardware&, Model);

}  // namespace napkin
