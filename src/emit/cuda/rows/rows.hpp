// One kernel of a plan as a __global__ function whose warps take rows.
#pragma once

#include <string>

#include "emit/cuda/kernel.hpp"
#include "napkin/device.hpp"

namespace napkin {

// How it is launched: what ThreadedKernel says of a kernel of threads.
ThreadedKernel row_launch(const RowNest&, const Hardware&);
PrintedKernel row_kernel(const ThreadedKernel&, const RowNest&, const CodeNames&, const std::string& name);
// The functions that such kernels call beside those of single instructions; empty where the text uses none.
std::string row_definitions(const std::string& used_in);

}  // namespace napkin
