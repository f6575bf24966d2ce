// The third phase: which wires run along the rows and columns of fragments.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

struct Grids {
  std::map<BufferId, Grid> arrays;            // that are computed
  std::map<const Compute*, Grid> columns;     // what each runs over
  std::map<const Compute*, WireId> shuffled;  // a wire outside its grid that a column folds, by shuffles between lanes
};

// Throws if a column has too many wires for a grid, or reads what lies in another grid than its own.
Grids find_grids(const Lowered&, const std::vector<Product>&, WireId rows);

}  // namespace napkin
