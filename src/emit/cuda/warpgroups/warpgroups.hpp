// One kernel of a plan as a __global__ function for warpgroups: a producer warpgroup copies tiles by TMA into
// pipelines, and products run by wgmma.
#pragma once

#include <string>

#include "emit/cuda/kernel.hpp"
#include "napkin/device.hpp"

namespace napkin {

PrintedKernel warpgroup_kernel(const ThreadedKernel&, const WarpNest&, const CodeNames&, const std::string& name);

}  // namespace napkin
