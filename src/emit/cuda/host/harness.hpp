// A program that checks and times a plan's kernels.
#pragma once

#include <string>

#include "emit/cuda/host/launch.hpp"

namespace napkin {

std::string cuda_harness(const CudaPlan&);
std::string cuda_build_file(const CudaPlan&);  // CMakeLists.txt

}  // namespace napkin
