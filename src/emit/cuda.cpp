// A plan becomes CUDA files: every kernel threaded and printed, with the launcher, the harness and a build file.
#include <fmt/format.h>

#include "emit/cuda_harness.hpp"
#include "emit/cuda_launch.hpp"
#include "napkin/emit.hpp"

namespace napkin {

std::vector<EmittedFile> emit_cuda(const Diagram& diagram, const Plan& plan, const Hardware& hardware) {
  CudaPlan printed{code_plan(Language::cuda, diagram, plan, hardware), {}, {}};
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const auto number = plan.kernels.size() > 1 ? fmt::format("_{}", i + 1) : "";
    printed.threaded.push_back(thread(plan.kernels[i], hardware));
    printed.kernels.push_back(
        cuda_kernel(printed.threaded.back(), printed.names, printed.names.diagram + "_kernel" + number));
    add_limits(printed, printed.kernels.back().limits);
  }
  const auto& name = printed.names.diagram;
  return {{name + ".cu", cuda_source(printed)},
          {name + ".h", cuda_header(printed)},
          {name + "_harness.cu", cuda_harness(printed)},
          {"CMakeLists.txt", cuda_build_file(printed)}};
}

}  // namespace napkin
