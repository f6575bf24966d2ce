// Kernels whose steps overlap compile for sm_90a without spills, and ptxas leaves their products on their way.
#include <fmt/format.h>

#include <regex>

#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/kernel_cases.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

struct Split {
  std::string name, labels;  // no labels: as the search leaves it
};
const std::vector<Split> splits = {{"searched", ""},
                                   {"within", "group q 64, stream x 128 at smem; group q 16 at reg"},
                                   {"in_turn", "group q 128, stream x 128 at smem; group q 16 at reg"},
                                   {"three", "group q 192, stream x 64 at smem; group q 16 at reg"}};

std::int64_t number(const std::string& text, const std::string& pattern) {
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex(pattern)));
  return std::stoll(found[1]);
}

void check(const std::string& example, const Split& split, int width) {
  const Case each{example,
                  case_named(example).text,
                  split.labels.empty() ? std::vector<std::string>{} : std::vector{split.labels},
                  {}};
  const auto planned = plan(each, "h100-sxm5", sizes_of(fmt::format("d={}", width)));
  const auto distributed = distribute_warpgroups(planned.plan.kernels.front(), planned.hardware);
  const auto& warps = std::get<WarpNest>(distributed);
  CHECK(warps.registers <= warps.lane_registers);
  REQUIRE(warps.step);
  const auto files = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
  const auto folder = write(fmt::format("cuda_tests/turns_{}_{}_{}_nvcc", example, split.name, width), files);
  const auto compiled = run(fmt::format("cd {} && {} -Xptxas -v -arch=sm_90a -cubin {} -o kernel.cubin", folder,
                                        NAPKIN_NVCC, files.front().name));
  INFO(compiled.output);
  REQUIRE(compiled.status == 0);
  CHECK(compiled.output.find("warning") == std::string::npos);
  CHECK(compiled.output.find("serialized") == std::string::npos);
  CHECK(compiled.output.find("setmaxnreg") == std::string::npos);
  const auto kernel = compiled.output.substr(compiled.output.find("_warpgroups"));
  CHECK(number(kernel, "(\\d+) bytes spill stores") == 0);
  const auto registers = number(kernel, "Used (\\d+) registers");
  CAPTURE(registers, warps.registers);
  CHECK(registers * (warps.warps + warps.issuing_warps) * 32 * warps.blocks <= 65536);
  // One warpgroup needs no other's registers: what it has are those that it uses.
  if (warps.warps == warps.issuing_warps) CHECK(registers >= warps.registers - 60 - 32);
}

}  // namespace

// Every second, of each width in turn, or all.
TEST_CASE("steps that overlap spill nothing, and ptxas does not hold up their products", "[nvcc][warpgroups]") {
  std::size_t turn = 0;
  for (const std::string example : {"attention", "causal"})
    for (const auto& split : splits)
      for (const int width : {64, 128}) {
        // Three warpgroups have 160 registers for each lane, fewer than masks need beside rows of that width.
        if (example == "causal" && split.name == "three" && width == 128) continue;
        ++turn;
        if (left_out(turn + turn / 2)) continue;
        DYNAMIC_SECTION(example << " " << split.name << " " << width) { check(example, split, width); }
      }
}
