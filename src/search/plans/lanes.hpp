// Products in parts on matrix units, or on lanes.
#pragma once

#include "search/plans/chunked.hpp"

namespace napkin {

// The plan of a diagram. If some products are taken in parts, also that with all of them on lanes: the faster one. It
// is proven if both searches ended.
FoundPlan in_parts_or_on_lanes(const Diagram&, const Hardware&, const Goal&, const PlanOf&);

}  // namespace napkin
