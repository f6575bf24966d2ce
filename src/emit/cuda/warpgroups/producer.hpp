// The producer warpgroup, which copies tiles into pipelines by TMA and computes nothing.
#pragma once

#include "emit/cuda/grid.hpp"
#include "emit/cuda/warpgroups/pipelines.hpp"

namespace napkin {

// Prints the producer's part of the kernel, at whose end it returns.
void print_producer(FragmentPage&, GroupPrinter&, GridPrinter&, PipelinePrinter&);

}  // namespace napkin
