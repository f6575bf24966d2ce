// One kernel of a plan as a __global__ function whose warps use matrix units.
#pragma once

#include <string>

#include "emit/cuda/kernel.hpp"
#include "napkin/device.hpp"

namespace napkin {

// How the kernel is launched, in the form that ThreadedKernel has for kernels of threads.
ThreadedKernel warp_launch(const WarpNest&, const Hardware&);
PrintedKernel warp_kernel(const ThreadedKernel&, const WarpNest&, const CodeNames&, const std::string& name);
// Definitions of the functions of such kernels that the text uses.
std::string warp_definitions(const std::string& used_in);

}  // namespace napkin
