// Transfers, operations and steps, added up over all places of a nest.
#pragma once

#include <span>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// The figures need counts, regions and shares, and for add_sectors() transfers.
void add_transfers(const CostModel&, Figures&);
void add_operations(const CostModel&, Figures&);
void add_sectors(const CostModel&, std::span<const std::int64_t> sizes, Figures&);

}  // namespace napkin
