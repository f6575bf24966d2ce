// Every second case's kernels, or all, compile for sm_90, those that most people look for also for sm_80, without a
// warning; one harness links.
#include <fmt/format.h>

#include <set>
#include <string>

#include "support/catch.hpp"
#include "support/kernel_cases.hpp"

using namespace kernel_cases;

namespace {

std::string nvcc(const std::string& folder, const std::string& rest) {
  return fmt::format("cd {} && {} -Xcompiler -Wall,-Wextra {}", folder, NAPKIN_NVCC, rest);
}

void check_silent(const std::string& command) {
  const auto ran = run(command);
  CAPTURE(command);
  CHECK(ran.output == "");
  CHECK(ran.status == 0);
}

}  // namespace

TEST_CASE("emitted kernels compile for sm_80 and sm_90 without a warning", "[nvcc][cases]") {
  const std::set<std::string> for_both = {"matmul", "attention", "causal", "grouped_query"};
  std::size_t turn = 0;
  for (const auto& each : cases()) {
    if (left_out(turn++) && !for_both.contains(each.name)) continue;
    DYNAMIC_SECTION(each.name) {
      const auto planned = plan(each);
      const auto files = emit_cuda(planned.diagram, planned.plan, planned.hardware);
      const auto folder = write("cuda_tests/" + each.name + "_nvcc", files);
      for (const std::string architecture : {"sm_80", "sm_90"}) {
        if (architecture == "sm_80" && !for_both.contains(each.name)) continue;
        // Not optimised, which would take most of the time and warns of nothing more: what optimising makes of kernels
        // is for the tests of registers and spills.
        check_silent(nvcc(folder, fmt::format("-Xcicc -O0 -Xptxas -O0 -arch={} -cubin {}.cu -o kernel.cubin",
                                              architecture, planned.diagram.name)));
      }
    }
  }
}

TEST_CASE("an emitted harness links", "[nvcc]") {
  const auto planned = plan(cases().front());
  const auto folder = write("cuda_tests/linked", emit_cuda(planned.diagram, planned.plan, planned.hardware));
  const auto& name = planned.diagram.name;
  check_silent(nvcc(folder, fmt::format("-arch=sm_90 {0}.cu {0}_harness.cu -o harness", name)));
}
