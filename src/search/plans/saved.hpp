// What the kernels of a plan saved by fusing their statements.
#pragma once

#include <vector>

#include "napkin/search.hpp"

namespace napkin {

// `alone` are the costs of every statement of the plan as a kernel of its own.
struct Alone {
  StatementId statement;
  KernelCost cost;
};
std::vector<Saved> saved(const Diagram&, const Plan&, const std::vector<KernelCost>& costs,
                         const std::vector<Alone>& alone);

}  // namespace napkin
