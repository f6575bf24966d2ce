// Which columns of a kernel can hold most at a level, and what they hold in common.
#pragma once

#include <cstddef>
#include <vector>

#include "cost/model.hpp"

namespace napkin {

// Drops a column that holds nothing that another one does not hold too: it is never the largest.
void keep_largest(std::vector<CostModel::Column>& columns);
void keep_largest(std::vector<CostModel::Instant>& instants);

// What all columns of the level hold; the rest becomes their own.
std::vector<std::size_t> share_common(std::vector<CostModel::Column>& columns, std::size_t level);

}  // namespace napkin
