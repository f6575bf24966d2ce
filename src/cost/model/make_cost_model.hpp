// The cost model of a shape: its loop nest is walked once, and what does not depend on sizes is computed.
#pragma once

#include "cost/model/model.hpp"

namespace napkin {

// The model refers to the hardware.
CostModel make_cost_model(const Kernel& shape, const Hardware&);

}  // namespace napkin
