// A plan's streamed wires divided among cores that would stand idle.
#pragma once

#include "napkin/search.hpp"

namespace napkin {

// The plan itself, or a faster one in which kernels that leave cores idle are divided along a wire whose states merge.
FoundPlan divided(FoundPlan, const Hardware&, const Goal&);

}  // namespace napkin
