// One kernel of a plan as a __global__ function.
#pragma once

#include <string>

#include "emit/cuda/page.hpp"

namespace napkin {

PrintedKernel cuda_kernel(const ThreadedKernel&, const CodeNames&, const std::string& name);

}  // namespace napkin
