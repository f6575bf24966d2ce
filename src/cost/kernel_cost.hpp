// The cost of one partition, with names.
#pragma once

#include <span>

#include "cost/model/model.hpp"

namespace napkin {

// `kernel` is the one that the model was made from, and `sizes` are by split of its partition.
KernelCost cost_of(const CostModel&, const Kernel& kernel, std::span<const std::int64_t> sizes, Model);

}  // namespace napkin
