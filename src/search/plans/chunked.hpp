// Prefixes in chunks of an axis: which length of a chunk, and whether any.
#pragma once

#include <functional>

#include "napkin/search.hpp"

namespace napkin {

// The plan of a diagram as it stands.
using PlanOf = std::function<FoundPlan(const Diagram&, const Goal&)>;

// What the objective is of a plan; infinite where something does not fit.
double worth(const FoundPlan&, const Goal&);

// To look for a plan in place of this one; where that has divisions, also for one that is worse before it has its own.
Goal near(const FoundPlan&, Goal);

// A plan with its kernels divided, where that is faster.
using Divide = std::function<FoundPlan(FoundPlan, const Goal&)>;

// The better plan of the diagram as it stands and with its prefixes in chunks. Lengths of chunks are compared by a
// `trial` of each, without dividing kernels.
FoundPlan chunked(const Diagram&, const Goal&, const PlanOf& trial, const PlanOf&, const Divide&);

}  // namespace napkin
