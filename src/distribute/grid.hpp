// In which order the blocks of a launch come to the pieces of the grid, and whether they stay for several.
#pragma once

#include "napkin/distribute.hpp"

namespace napkin {

Walk walk_of(const Kernel& fitted, const Hardware&);

}  // namespace napkin
