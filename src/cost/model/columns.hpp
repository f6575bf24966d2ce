// The columns of a kernel that can hold most at a level, and what they have in common.
#pragma once

#include <cstddef>
#include <vector>

#include "cost/model/model.hpp"

namespace napkin {

// Removes columns whose holdings another column has too, because such a column is never the largest.
void keep_largest(std::vector<CostModel::Column>& columns);
void keep_largest(std::vector<CostModel::Instant>& instants);

// Returns what all columns of the level hold, and sets `own` of each to the rest.
std::vector<std::size_t> share_common(std::vector<CostModel::Column>& columns, std::size_t level);

}  // namespace napkin
