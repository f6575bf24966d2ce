// The independent parts of the regions of a model.
#pragma once

#include "cost/model/model.hpp"

namespace napkin {

// Divides all regions into parts. Equal parts are stored once.
void find_parts(CostModel&);
// Shares sums over regions with other models.
void share_sums(CostModel&, KnownSums&);

}  // namespace napkin
