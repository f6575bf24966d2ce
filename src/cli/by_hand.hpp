// A plan that a person wrote -> an analysis of it.
#pragma once

#include "cli/stages.hpp"
#include "napkin/report.hpp"

namespace napkin::cli {

// The kernels as they are written, in their order, each completed by the search below what its labels name. One kernel
// has all statements unless it names some; of several each names its own. A group of an axis whose parts have to be
// merged makes two of one. False, with diagnostics, where labels are not legal or the kernels are no plan.
bool add_by_hand(Session&, const Written&, Analysis&);

}  // namespace napkin::cli
