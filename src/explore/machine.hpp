// The time of a kernel as it is split, wherever its plan is looked at.
#pragma once

#include <optional>

#include "napkin/explore.hpp"

namespace napkin {

// None where it does not fit, or the machine does not tell times.
std::optional<double> seconds_of(const Kernel&, const Hardware&, Model);

}  // namespace napkin
