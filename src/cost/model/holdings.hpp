// What memories hold: the buffers of a nest, and the columns and instants at which a level can hold most.
#pragma once

#include "cost/model/walked.hpp"

namespace napkin {

// The nest has been walked.
void add_holdings(Walked&);

}  // namespace napkin
