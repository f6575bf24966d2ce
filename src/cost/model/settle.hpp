// The last phase of make_cost_model(): totals, rates, and what columns hold in common.
#pragma once

#include "cost/model/model.hpp"

namespace napkin {

// Completes a model whose nest has been walked with what does not depend on sizes.
void settle(CostModel&, const LoopNest&);

}  // namespace napkin
