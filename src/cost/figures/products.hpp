// The value of a product of a cost model.
#pragma once

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// The figures need what the product refers to: counts, lengths, reaches, regions and shares. On overflow the value is
// 0, and `overflow` is set.
std::int64_t value_of(const CostModel::Product&, const Figures&, bool& overflow);

}  // namespace napkin
