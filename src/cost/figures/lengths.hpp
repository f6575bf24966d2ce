// The first figures: lengths and numbers of pieces, reaches of footprints, and groups.
#pragma once

#include <span>

#include "cost/figures/figures.hpp"
#include "cost/figures/reach.hpp"

namespace napkin {

// Begins the figures anew, with lengths of pieces and reaches of one piece.
void find_lengths(const CostModel&, std::span<const std::int64_t> sizes, Figures&, Reach);
// The numbers of pieces, the reaches of all pieces, and the groups of each level.
void find_counts(const CostModel&, std::span<const std::int64_t> sizes, Figures&, Reach);
// The groups of one parent: for the sizes of the figures' lengths, or for these sizes.
void find_groups(const CostModel&, Figures&);
void find_groups_of(const CostModel&, std::span<const std::int64_t> sizes, Figures&);

}  // namespace napkin
