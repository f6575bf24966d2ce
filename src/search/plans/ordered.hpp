// Products of many factors, contracted in the order whose plan is the best.
#pragma once

#include "search/plans/chunked.hpp"

namespace napkin {

// The plan of the diagram in the best order of each of its contractions, decided one after another.
FoundPlan ordered(const Diagram&, const Goal&, const PlanOf&);

}  // namespace napkin
