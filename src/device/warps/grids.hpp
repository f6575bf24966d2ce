// The third phase: which wires run along the rows and columns of fragments.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

// Finds the grids of arrays and columns, and the wires that are shuffled, from the products. Throws if a column has too
// many wires for a grid, or reads what lies in another grid than its own.
void find_grids(WarpNest&, const Lowered&, WireId rows);

}  // namespace napkin
