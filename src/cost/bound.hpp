// A lower bound of what every program moves into the memories of a machine.
#pragma once

#include "napkin/cost.hpp"

namespace napkin {

LowerBound lower_bound(const Derivation&, const Hardware&);

}  // namespace napkin
