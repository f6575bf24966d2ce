// One kernel of a plan as a __global__ function whose warps use matrix units.
#pragma once

#include <string>

#include "emit/cuda/kernel.hpp"
#include "napkin/device.hpp"

namespace napkin {

// How the kernel is launched, in the form that ThreadedKernel has for kernels of threads.
ThreadedKernel warp_launch(const WarpNest&, const Hardware&);
PrintedKernel warp_kernel(const ThreadedKernel&, const WarpNest&, const CodeNames&, const std::string& name);

}  // namespace napkin
