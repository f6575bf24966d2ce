// The head of a kernel on matrix units: comments on it, the lane's numbers, and the pieces of warps.
#pragma once

#include <string>

#include "emit/cuda/groups.hpp"
#include "emit/cuda/warps/fragments.hpp"

namespace napkin {

// Prints comments on the kernel. `by` names the instructions, and `filled` says which threads fill the pipeline stages
// of tiles.
void describe_warps(FragmentPage&, GroupPrinter&, const std::string& by, const std::string& filled);
// Declares the numbers of the warp and of the lane in it.
void declare_lanes(FragmentPage&);
// Declares the pieces of the warp.
void declare_warps(FragmentPage&, GroupPrinter&);

}  // namespace napkin
