// Regions in parts that nothing ties together: the sum over all of a region's pieces is the product of theirs.
#pragma once

#include <vector>

#include "cost/region.hpp"

namespace napkin {

// Wires that stand in one condition belong to one part, and those that one footprint is shaped by do; `run` or `open`
// is what is summed. One part where all wires hang together. `shaped` is by footprint of the region.
std::vector<Region> independent(const Region&, Region::Part, const std::vector<std::vector<bool>>& shaped);

}  // namespace napkin
