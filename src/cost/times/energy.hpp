// The energy of a launch.
#pragma once

#include <optional>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// The energy of a launch of that duration: of transfers into the levels above `end`, operations, and the idle machine.
// None if the price of a transfer is unknown.
std::optional<double> energy_of(const CostModel&, const Figures&, std::optional<double> seconds, std::size_t end);

}  // namespace napkin
