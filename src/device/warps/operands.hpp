// The fourth phase: where both sides of each product come from, and how the tiles of inputs lie in shared memory.
#pragma once

#include "device/warps/grids.hpp"

namespace napkin {

struct Operands {
  std::vector<Product> products;  // with the rows of the grid on their first side
  Tiles tiles;                    // without their places in shared memory
};

// Throws if no instruction multiplies the operands in their layout, or sums them as the product requires.
Operands find_operands(const Lowered&, const std::vector<Product>&, const Grids&);

}  // namespace napkin
