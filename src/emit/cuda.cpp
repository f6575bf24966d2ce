// A plan becomes CUDA files: every kernel threaded and printed, with the launcher, the harness and a build file.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "emit/cuda_harness.hpp"
#include "emit/cuda_launch.hpp"
#include "napkin/emit.hpp"

namespace napkin {
namespace {

// Written by one kernel for another, and asked for by nobody outside.
std::vector<ArrayId> arrays_between(const Diagram& diagram, const Plan& plan) {
  std::vector<ArrayId> between;
  for (const auto& kernel : plan.kernels)
    for (const auto id : kernel.program.outputs)
      if (std::find(diagram.outputs.begin(), diagram.outputs.end(), id) == diagram.outputs.end()) between.push_back(id);
  return between;
}

std::string labels(const Diagram& diagram, const Plan& plan, const Hardware& hardware) {
  std::string text;
  for (const auto& kernel : plan.kernels) {
    const auto words = to_text(kernel.partition, diagram, hardware);
    text += (text.empty() ? "" : " | ") + (words.empty() ? "one group" : words);
  }
  return fmt::format("{}, for {}", text, hardware.name);
}

}  // namespace

std::vector<EmittedFile> emit_cuda(const Diagram& diagram, const Plan& plan, const Hardware& hardware) {
  CudaPlan printed{
      diagram, cuda_names(diagram), {}, {}, arrays_between(diagram, plan), {}, labels(diagram, plan, hardware)};
  for (std::size_t i = 0; i < plan.kernels.size(); ++i) {
    const auto number = plan.kernels.size() > 1 ? fmt::format("_{}", i + 1) : "";
    printed.threaded.push_back(thread(plan.kernels[i], hardware));
    printed.kernels.push_back(
        cuda_kernel(printed.threaded.back(), printed.names, printed.names.diagram + "_kernel" + number));
    for (const auto& [axis, limit] : printed.kernels.back().limits) {
      auto& least = printed.limits.try_emplace(axis, limit).first->second;
      least = std::min(least, limit);
    }
  }
  const auto& name = printed.names.diagram;
  return {{name + ".cu", cuda_source(printed)},
          {name + ".h", cuda_header(printed)},
          {name + "_harness.cu", cuda_harness(printed)},
          {"CMakeLists.txt", cuda_build_file(printed)}};
}

}  // namespace napkin
