// Whether a partition fits into the memories of a machine.
#pragma once

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// True if memories above level `end` hold what they must, and no level has more groups than it may have.
bool fits(const CostModel&, const Figures&, Model, std::size_t end);

}  // namespace napkin
