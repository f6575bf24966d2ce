// The positions and pieces that masks let through.
#pragma once

#include <span>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// The sums over the regions of a model.
void sum_regions(const CostModel&, std::span<const std::int64_t> sizes, Figures&);
// Lower bounds of them for all smaller sizes. The figures need lengths. `grains` are as in bound_transfers().
void bound_regions(const CostModel&, std::span<const std::int64_t> sizes, std::span<const std::int64_t> grains,
                   Figures&);
// The shares of pieces that random masks let run. `held` has the lengths of pieces; smaller ones have fewer entries and
// run less often.
void find_shares(const CostModel&, const Figures& held, Figures&);

}  // namespace napkin
