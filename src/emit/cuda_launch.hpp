// The C interface of a plan's kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/cuda_kernel.hpp"

namespace napkin {

// Everything the files of one plan are printed from.
struct CudaPlan {
  const Diagram& diagram;
  CudaNames names;
  std::vector<ThreadedKernel> threaded;   // in launch order
  std::vector<CudaKernel> kernels;        // of the same number
  std::vector<ArrayId> between;           // written by one kernel and read by a later one, never given out
  std::map<AxisId, std::int64_t> limits;  // longest axes that the text holds for
  std::string labels;                     // the plan in words
};

std::string cuda_header(const CudaPlan&);
std::string cuda_source(const CudaPlan&);  // kernels and launcher

// Conditions, in C++, under which every read stays inside its array.
std::vector<std::string> cuda_conditions(const Diagram&, const CudaNames&);

}  // namespace napkin
