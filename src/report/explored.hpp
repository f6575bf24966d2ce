// The surroundings of a plan, as sections and as JSON.
#pragma once

#include "report/document.hpp"
#include "report/json/json.hpp"

namespace napkin::report {

// Trade-offs, capacities and other pieces of one kernel.
void add_explored(Document&, const Explored::OfKernel&, const Hardware&);
// The gains from doubling each resource.
void add_sensitivity(Document&, const Sensitivity&);

Json front_json(const Front&, const Hardware&);
Json rooms_json(const Curve&);
Json pieces_json(const std::optional<Terrain>&);
Json sensitivity_json(const Sensitivity&);

}  // namespace napkin::report
