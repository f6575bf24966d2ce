// One kernel of a plan as a __global__ function whose warps use matrix units.
#pragma once

#include <string>

#include "emit/cuda/kernel.hpp"
#include "napkin/device.hpp"

namespace napkin {

// How it is launched: what ThreadedKernel says of a kernel of threads.
ThreadedKernel warp_launch(const WarpNest&, const Hardware&);
PrintedKernel warp_kernel(const ThreadedKernel&, const WarpNest&, const CodeNames&, const std::string& name);
// The functions that such kernels call, as far as the text uses them.
std::string warp_definitions(const std::string& used_in);

}  // namespace napkin
