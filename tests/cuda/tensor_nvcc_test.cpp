// Kernels on matrix units compile without a warning for every architecture that has the instructions, and what ptxas
// gives them is what the plan's budget allows.
#include <fmt/format.h>

#include <regex>

#include "napkin/distribute.hpp"
#include "support/catch.hpp"
#include "support/kernel_cases.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

struct Taken {
  std::int64_t registers = 0, spilled_bytes = 0;
};

std::int64_t number(const std::string& text, const std::string& pattern) {
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex(pattern)));
  return std::stoll(found[1]);
}

Taken compile(const std::string& folder, const std::string& file, const std::string& architecture) {
  const auto ran = run(fmt::format("cd {} && {} -Xcompiler -Wall,-Wextra -Xptxas -v -arch={} -cubin {} -o kernel.cubin",
                                   folder, NAPKIN_NVCC, architecture, file));
  INFO(ran.output);
  REQUIRE(ran.status == 0);
  CHECK(ran.output.find("warning") == std::string::npos);
  return {number(ran.output, "Used (\\d+) registers"), number(ran.output, "(\\d+) bytes spill stores")};
}

const Case& example(const std::string& name) {
  const auto& all = cases();
  return *std::find_if(all.begin(), all.end(), [&](const Case& each) { return each.name == name; });
}

}  // namespace

TEST_CASE("kernels on matrix units spill nothing and keep within their budget", "[nvcc][tensor]") {
  for (const std::string name : {"matmul", "attention", "causal"}) DYNAMIC_SECTION(name) {
      const auto planned = plan(example(name), "a100-sxm4-80");
      const auto files = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
      const auto folder = write("cuda_tests/" + name + "_tensor_nvcc", files);
      const auto distributed = distribute(planned.plan.kernels.front(), planned.hardware);
      const auto& warps = std::get<WarpNest>(distributed);
      for (const std::string architecture : {"sm_80", "sm_86", "sm_89", "sm_90"}) {
        const auto taken = compile(folder, files.front().name, architecture);
        CAPTURE(architecture, taken.registers, warps.registers);
        CHECK(taken.spilled_bytes == 0);
        CHECK(taken.registers <= 255);
        // Values and operands alone are a lower bound; docs/cuda.md says what else there is.
        CHECK(taken.registers >= warps.registers - 60 - 32);
        CHECK(warps.shared_bytes <= static_cast<std::int64_t>(planned.hardware.levels[warps.block_level].room()));
      }
    }
}
