// The walk over the text of a nest, which adds transfers, operations, masks and steps to the model.
#pragma once

#include "cost/model/walked.hpp"

namespace napkin {

void walk(Walked&);

}  // namespace napkin
