// The C interface of a plan's kernels.
#pragma once

#include <string>
#include <vector>

#include "emit/code_interface.hpp"
#include "emit/cuda_kernel.hpp"

namespace napkin {

// Everything the files of one plan are printed from.
struct CudaPlan : CodePlan {
  std::vector<ThreadedKernel> threaded;  // in launch order
  std::vector<CudaKernel> kernels;       // of the same number
  std::vector<std::string> notes;        // which kernels run without matrix units, and why
};

std::string cuda_header(const CudaPlan&);
std::string cuda_source(const CudaPlan&);  // kernels and launcher

}  // namespace napkin
