// H and M at the first level below the outermost, as readable expressions, and the least H to leading order.
#pragma once

#include "cost/model/model.hpp"

namespace napkin {

ClosedForm closed_form(const CostModel&, const Kernel& shape, const Hardware&, Model);

}  // namespace napkin
