// Tiles that are worth copying.
#pragma once

#include "napkin/partition.hpp"

namespace napkin {

// The same kernel with longer pieces of streams at the first level, and the planned ones inside of them.
Kernel with_long_tiles(const Kernel&, const Hardware&);

}  // namespace napkin
