// What does not fit into a machine.
#pragma once

#include <vector>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// Level by level; empty if everything fits. The figures are those of evaluate().
std::vector<Overrun> overruns(const CostModel&, const Figures&, Model);

}  // namespace napkin
