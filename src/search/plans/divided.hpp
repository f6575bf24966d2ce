// A plan's streamed wires divided into parts that run side by side.
#pragma once

#include "search/plans/likeness.hpp"

namespace napkin {

// The plan itself, or a faster one in which kernels are divided along wires whose states merge. Looks
// up which kernels were searched before, and adds to them.
FoundPlan divided(FoundPlan, const Hardware&, const Goal&, Searched&);

}  // namespace napkin
