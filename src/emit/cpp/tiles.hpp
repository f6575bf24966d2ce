// Tiles that are long enough to be worth copying.
#pragma once

#include "napkin/partition.hpp"

namespace napkin {

// The same kernel with longer pieces of streams at the first level, each of which contains planned pieces.
Kernel with_long_tiles(const Kernel&, const Hardware&);

}  // namespace napkin
