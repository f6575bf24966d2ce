// A plan's streamed wires divided into parts that run side by side.
#pragma once

#include "napkin/search.hpp"

namespace napkin {

// The plan itself, or a faster one in which kernels are divided along wires whose states merge.
FoundPlan divided(FoundPlan, const Hardware&, const Goal&);

}  // namespace napkin
