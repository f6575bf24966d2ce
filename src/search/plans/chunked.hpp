// Prefixes in chunks of an axis: which length of a chunk, and whether any.
#pragma once

#include <functional>

#include "napkin/search.hpp"

namespace napkin {

// The plan of a diagram as it stands.
using PlanOf = std::function<FoundPlan(const Diagram&, const Goal&)>;

// What the objective is of a plan; infinite where something does not fit.
double worth(const FoundPlan&, const Goal&);

// The better plan of the diagram as it stands and with its prefixes in chunks.
FoundPlan chunked(const Diagram&, const Goal&, const PlanOf&);

}  // namespace napkin
