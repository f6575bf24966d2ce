// Kernels on matrix units compile without a warning for every architecture that has the instructions, and what ptxas
// gives them is what the plan's budget allows.
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "napkin/device.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/kernel_cases.hpp"
#include "support/read.hpp"

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

std::string compiled(const std::string& folder, const std::string& file, const std::string& architecture) {
  const auto ran = run(fmt::format("cd {} && {} -Xcompiler -Wall,-Wextra -Xptxas -v -arch={} -cubin {} -o kernel.cubin",
                                   folder, NAPKIN_NVCC, architecture, file));
  INFO(ran.output);
  REQUIRE(ran.status == 0);
  CHECK(ran.output.find("warning") == std::string::npos);
  return ran.output;
}

Taken compile(const std::string& folder, const std::string& file, const std::string& architecture) {
  const auto output = compiled(folder, file, architecture);
  return {number(output, "Used (\\d+) registers"), number(output, "(\\d+) bytes spill stores")};
}

}  // namespace

TEST_CASE("kernels on matrix units spill nothing and keep within their budget", "[nvcc][tensor]") {
  for (const std::string name : {"matmul", "attention", "causal"}) DYNAMIC_SECTION(name) {
      const auto planned = plan(case_named(name), "a100-sxm4-80");
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
        CHECK(taken.registers >= warps.registers - 92 - 32);
        CHECK(warps.shared_bytes <= static_cast<std::int64_t>(planned.hardware.levels[warps.block_level].room()));
      }
    }
}

namespace {

Case laid_out(const std::string& name, const std::string& a, const std::string& b) {
  return {name,
          fmt::format("diagram {0}\naxis m = 4096; axis n = 4096; axis k = 4096\ninput A: f16[{1}]; input B: f16[{2}]\n"
                      "C: f16[m, n] = sum[k](A[{1}] * B[{2}])\noutput C\n",
                      name, a, b),
          {},
          {}};
}
// Bytes that each kernel spills, by its name.
std::vector<std::pair<std::string, std::int64_t>> spills(const std::string& output) {
  static const std::regex kernel("entry function\\s+'_Z(\\d+)(\\w+)'[^]*?(\\d+) bytes spill stores");
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (std::sregex_iterator at(output.begin(), output.end(), kernel), end; at != end; ++at)
    all.emplace_back((*at)[2].str().substr(0, std::stoul((*at)[1])), std::stoll((*at)[3]));
  REQUIRE_FALSE(all.empty());
  return all;
}
std::vector<Case> looked_for() {
  std::vector<Case> all = {laid_out("product_mk_nk", "m, k", "n, k"), laid_out("product_km_kn", "k, m", "k, n"),
                           laid_out("product_km_nk", "k, m", "n, k")};
  for (const auto* name :
       {"alibi", "attention_backward", "block_sparse", "causal", "causal_linear_attention", "chained_matmul",
        "convolution", "decode", "epilogue", "gated_mlp", "grouped_query", "layernorm_projection", "multi_head",
        "rmsnorm_projection", "scaled", "sliding_window", "softcap", "spherical", "transformer_block"})
    all.push_back(case_named(name));
  return all;
}

}  // namespace

// Every kernel of a plan, with the others that it may be launched in place of: of every third plan, for one of three
// machines in turn; or of every plan for all of them.
TEST_CASE("no kernel of the plans that most people look for spills", "[nvcc][tensor]") {
  int turn = 0;
  for (const auto& each : looked_for()) {
    const std::string in_turn = turn % 9 == 0 ? "sm_90a" : turn % 9 == 3 ? "sm_80" : turn % 9 == 6 ? "sm_89" : "";
    ++turn;
    for (const auto& [machine, architecture] : {std::pair<std::string, std::string>{"a100-sxm4-80", "sm_80"},
                                                {"rtx4090", "sm_89"},
                                                {"h100-sxm5", "sm_90a"}}) {
      if (!takes_every_case() && architecture != in_turn) continue;
      DYNAMIC_SECTION(each.name << " " << architecture) {
        auto planned = plan(each, machine);
        plan_instead(planned.plan, planned.hardware);
        const auto files = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
        const auto folder = write("cuda_tests/" + each.name + "_spills_nvcc", files);
        const auto output = compiled(folder, files.front().name, architecture);
        CAPTURE(output);
        for (const auto& [kernel, spilled] : spills(output)) {
          CAPTURE(kernel);
          // What only stands beside a kernel of warpgroups, for devices without their instructions, may spill a little.
          const bool beside = output.find(kernel + "_warpgroups") != std::string::npos;
          CHECK(spilled <= (beside ? 16 : 0));
        }
        CHECK(output.find("serialized") == std::string::npos);
      }
    }
  }
}

TEST_CASE("kernels of warpgroups spill nothing, and are not held up by ptxas", "[nvcc][warpgroups]") {
  const std::string eight_bits =
      "diagram product\naxis m = 512; axis n = 512; axis k = 512\ninput A: f8e4m3[m, k]; "
      "input B: f8e4m3[n, k]\nC: f16[m, n] = sum[k](A[m, k] * B[n, k])\noutput C\n";
  const std::vector<Case> all = {
      {"product_f8", eight_bits, {"group m 128, n 128, stream k 128 at smem; group m 16 at reg"}, {}},
      {"attention_f8",
       read_file(NAPKIN_SOURCE_DIR "/scripts/reproduction/attention_fp8.nap"),
       {"group q 128, stream x 192 at smem; group q 16 at reg"},
       {}},
      {"matmul", case_named("matmul").text, {}, {}},
      {"attention", case_named("attention").text, {"group q 128, stream x 128 at smem; group q 16 at reg"}, {}},
      {"causal", case_named("causal").text, {"group q 128, stream x 64 at smem; group q 16 at reg"}, {}}};
  for (const auto& each : all) DYNAMIC_SECTION(each.name) {
      const auto planned = plan(each, "h100-sxm5");
      const auto files = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
      const auto folder = write("cuda_tests/" + each.name + "_warpgroups_nvcc", files);
      const auto distributed = distribute_warpgroups(planned.plan.kernels.front(), planned.hardware);
      const auto& warps = std::get<WarpNest>(distributed);
      const auto output = compiled(folder, files.front().name, "sm_90a");
      CHECK(output.find("serialized") == std::string::npos);
      CHECK(output.find("setmaxnreg") == std::string::npos);
      const auto kernel = output.substr(output.find("_warpgroups"));
      const auto threads = (warps.warps + warps.issuing_warps) * 32;
      CAPTURE(kernel, warps.registers, warps.lane_registers, threads);
      CHECK(number(kernel, "(\\d+) bytes spill stores") == 0);
      // Registers that a block begins with: equal shares, of which warpgroups that compute then take more.
      CHECK(number(kernel, "Used (\\d+) registers") * threads <= 65536);
      CHECK(warps.registers <= warps.lane_registers);
      CHECK(warps.shared_bytes <= static_cast<std::int64_t>(planned.hardware.levels[warps.block_level].room()));
      if (each.name != "matmul") continue;
      compiled(folder, files.front().name, "sm_90");
      compiled(folder, files.front().name, "sm_80");
      const auto linked = run(fmt::format("cd {} && {} -arch=sm_90a {}_harness.cu {} -o harness", folder, NAPKIN_NVCC,
                                          each.name, files.front().name));
      CAPTURE(linked.output);
      CHECK(linked.output == "");
      CHECK(linked.status == 0);
    }
}

// Of what is left to be read number by number: so many of a thread's reads are on their way before it writes the first.
TEST_CASE("rows that are not aligned are read four numbers at a time", "[nvcc][tensor]") {
  const std::string text =
      "diagram product\naxis m = 512; axis n = 512; axis k = 512\ninput A: f16[m, k]; input B: f16[k, n]\n"
      "C: f16[m, n] = sum[k](A[m, k] * B[k, n])\noutput C\n";
  const auto planned =
      plan({"", text, {"group m 64, n 64, stream k 32 at smem; group m 16 at reg"}, {}}, "a100-sxm4-80");
  const auto files = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
  const auto folder = write("cuda_tests/narrow_nvcc", files);
  const auto ran =
      run(fmt::format("cd {} && {} -arch=sm_80 -ptx {} -o /dev/stdout", folder, NAPKIN_NVCC, files[0].name));
  REQUIRE(ran.status == 0);
  std::istringstream lines(ran.output);
  std::int64_t reads = 0, most = 0;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, std::regex("ld\\.global[a-z.]*\\.[ub]16"))) most = std::max(most, ++reads);
    if (std::regex_search(line, std::regex("st\\.(shared\\.)?[a-z.]*[ub]16"))) reads = 0;
  }
  CHECK(most >= 4);
}
