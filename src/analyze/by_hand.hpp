// A plan that a person wrote -> the kernels of an analysis.
#pragma once

#include "napkin/analyze.hpp"

namespace napkin {

// Adds the kernels as they are written, in their order; the search completes each below the levels that its labels
// name. A single kernel has all statements unless it names some; of several each names its own. A group of an axis
// whose parts have to be merged makes two kernels of one. False, with errors, if labels are not legal or the kernels
// are no plan.
bool add_by_hand(const WrittenPlan&, Analysis&, Diagnostics&);

}  // namespace napkin
