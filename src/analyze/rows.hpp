// Kernels that assign rows to warps, as they are distributed.
#pragma once

#include "napkin/analyze.hpp"

namespace napkin {

// One kernel for each group of statements that shares no array with the others, if each then runs as rows over warps.
// None if the kernel, which is of this diagram, runs so as it is, and if the search minimises anything but time.
std::vector<Found> split_into_rows(const Found&, const Diagram&, const Hardware&, const Goal&);
// Gives a kernel without matrix products the partition of its rows over warps, and its cost, if a CUDA device runs it
// so. The first candidate is then the kernel that is emitted, and only those that are slower follow.
void take_rows(Found&, const Hardware&, const Goal&);
// The same for every kernel of a searched plan. If the partitions that were searched are faster in the model, the plan
// is not optimal, and its gap says by how much.
void take_rows(Analysis&);

}  // namespace napkin
