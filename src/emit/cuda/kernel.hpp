// One kernel of a plan as a __global__ function.
#pragma once

#include <map>
#include <string>

#include "emit/cuda/page.hpp"

namespace napkin {

struct CudaKernel {
  std::string name;
  std::string text;
  std::map<AxisId, std::int64_t> limits;  // longest axes that the text holds for
  std::vector<Traced> origins;            // of lines of the text
};
CudaKernel cuda_kernel(const ThreadedKernel&, const CodeNames&, const std::string& name);

}  // namespace napkin
