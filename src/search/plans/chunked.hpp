// Prefixes in chunks of an axis: decides the length of chunks, and whether chunks are used at all.
#pragma once

#include <functional>

#include "napkin/search.hpp"

namespace napkin {

// Plans a diagram as it is.
using PlanOf = std::function<FoundPlan(const Diagram&, const Goal&)>;

// The objective of a plan; infinite if something does not fit.
double worth(const FoundPlan&, const Goal&);

// The goal of a search for a plan that replaces this one. If this one has divisions, a plan may be worse by a margin,
// since it is not divided yet.
Goal near(const FoundPlan&, Goal);

// Divides the kernels of a plan if that is faster.
using Divide = std::function<FoundPlan(FoundPlan, const Goal&)>;

// The better of two plans: of the diagram as it is, and with its prefixes in chunks. Lengths of chunks are compared by
// a `trial` of each, without dividing kernels.
FoundPlan chunked(const Diagram&, const Goal&, const PlanOf& trial, const PlanOf&, const Divide&);

}  // namespace napkin
