// The fourth phase: where both sides of each product come from, and how the tiles of inputs lie in shared memory.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

// Finds the sides of the products, with the rows of the grid on the first side, and the tiles, without their places in
// shared memory. Takes grids. Throws if no instruction multiplies the operands in their layout, or sums them as the
// product requires.
void find_operands(WarpNest&, const Lowered&);

}  // namespace napkin
