// Splits regions into independent parts. The sum over all pieces of a region is the product of the sums of its parts.
#pragma once

#include <vector>

#include "cost/regions/region.hpp"

namespace napkin {

// Wires belong to the same part if a condition contains both or the value of a footprint depends on both. If that
// connects all wires, there is one part. The part of the region that is summed is `run` or `open`. `shaped` is by
// footprint of the region.
std::vector<Region> independent(const Region&, Region::Part, const std::vector<std::vector<bool>>& shaped);

}  // namespace napkin
