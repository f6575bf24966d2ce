// One of the two kernels that another one becomes.
#pragma once

#include <memory>
#include <vector>

#include "search/plans/likeness.hpp"

namespace napkin {

struct Half {
  std::shared_ptr<const Derivation> derivation;
  Likeness alike;
  double least_s = 0;  // that it takes at least
};
Half half(const Diagram&, const std::vector<StatementId>&, const Hardware&, const Goal&);

// The plan and its cost, of the best of every kernel that was found.
void take_best(FoundPlan&);

}  // namespace napkin
