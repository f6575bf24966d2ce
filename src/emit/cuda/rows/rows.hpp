// One kernel of a plan as a __global__ function that assigns rows to warps.
#pragma once

#include <string>

#include "emit/cuda/kernel.hpp"
#include "napkin/device.hpp"

namespace napkin {

// How the kernel is launched, in the form that ThreadedKernel has for kernels of threads.
ThreadedKernel row_launch(const RowNest&, const Hardware&);
PrintedKernel row_kernel(const ThreadedKernel&, const RowNest&, const CodeNames&, const std::string& name);
// The functions that such kernels call, other than wrappers of single instructions; empty if the text uses none.
std::string row_definitions(const std::string& used_in);

}  // namespace napkin
