// How many positions of a region its masks let through.
#pragma once

#include "cost/model/model.hpp"

namespace napkin {

// A lower bound of the positions that conditions let through.
std::int64_t least_positions(const CostModel&, const Region&);
// The share of the positions of a region's wires that its conditions let through; 1 if sizes are not known.
double share_of(const CostModel&, const Region&);

}  // namespace napkin
