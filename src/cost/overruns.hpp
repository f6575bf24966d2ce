// What does not fit into a machine.
#pragma once

#include <span>
#include <vector>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// Level by level; empty if everything fits.
std::vector<Overrun> overruns(const CostModel&, std::span<const std::int64_t> sizes, const Figures&, Model);

}  // namespace napkin
