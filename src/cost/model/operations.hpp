// The operations of a column, by unit and type of operand.
#pragma once

#include "cost/model/walked.hpp"

namespace napkin {

// Adds the operations of a column at the place that the walk has reached.
void add_operations(Walked&, const Compute&);

}  // namespace napkin
