// Kernels with rows over warps: emulated at three sizes, one of them ragged, against the plain meaning; what they move
// against the model; a barrier left out, which the emulation must find; and what nvcc makes of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "cuda/emulate.hpp"
#include "napkin/cost.hpp"
#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* machine = "a100-sxm4-80";

// `text` with a row of `r` and `x` in front.
std::string rows_of(const std::string& name, const std::string& text, std::int64_t x = 2048) {
  return fmt::format("diagram {}\naxis r = 4096; axis x = {}\n{}", name, x, text);
}

std::vector<Case> row_cases() {
  const std::string by_rows = "group r 1 at smem", eight = "group r 8 at smem";
  const std::vector<std::string> sizes = {"r=5 x=7", "r=6 x=2048", "r=9 x=1021"};
  const auto softmax = [](const char* name, int x) {
    return rows_of(name, "input S: f16[r, x]\nP: f16[r, x] = softmax[x](S[r, x])\noutput P\n", x);
  };
  return {
      {"rows_softmax", softmax("rows_softmax", 2048), {by_rows}, sizes},
      {"rows_short", softmax("rows_short", 128), {by_rows}, {"r=5 x=7", "r=8 x=128", "r=7 x=99"}},
      {"rows_long", softmax("rows_long", 16384), {by_rows}, {"r=3 x=9", "r=2 x=16384", "r=3 x=8191"}},
      {"rows_masked",
       rows_of("rows_masked",
               "input S: f32[r, x]; input B: f32[r]\n"
               "P: bf16[r, x] = softmax[x](where(x <= 2 * r, S[r, x] / 8 + B[r], -inf))\noutput P\n",
               256),
       {by_rows},
       {"r=5 x=7", "r=8 x=256", "r=7 x=199"}},
      {"rows_layernorm",
       rows_of("rows_layernorm",
               "input X: f16[r, x]; input G: f16[x]; input B: f16[x]\n"
               "Y: f16[r, x] = layernorm[x](X[r, x]) * G[x] + B[x]\noutput Y\n"),
       {eight},
       {"r=5 x=7", "r=16 x=2048", "r=19 x=1021"}},
      {"rows_rmsnorm",
       rows_of("rows_rmsnorm",
               "input X: bf16[r, x]; input G: bf16[x]\n"
               "Y: bf16[r, x] = X[r, x] * rsqrt(sum[x](X[r, x]^2) / size(x) + 0.00001) * G[x]\n"
               "output Y\n"),
       {eight},
       {"r=5 x=7", "r=16 x=2048", "r=19 x=1021"}},
      {"rows_longer", softmax("rows_longer", 50000), {by_rows}, {"r=3 x=9", "r=2 x=50000", "r=2 x=33331"}},
      {"rows_longer_layernorm",
       rows_of("rows_longer_layernorm",
               "input X: f16[r, x]; input G: f32[x]; input B: f16[x]\n"
               "Y: bf16[r, x] = layernorm[x](X[r, x]) * G[x] + B[x]\noutput Y\n",
               30000),
       {by_rows},
       {"r=3 x=9", "r=2 x=30000", "r=2 x=17771"}},
      {"rows_longer_masked",
       rows_of("rows_longer_masked",
               "input S: f32[r, x]; input M: bool[r, x]\n"
               "P: f32[r, x] = softmax[x](where(M[r, x], S[r, x], -1000))\n"
               "E: f32[r] = sum[x](P[r, x] * S[r, x])\noutput P; output E\n",
               20000),
       {by_rows},
       {"r=3 x=9", "r=2 x=20000", "r=2 x=13331"}},
      {"rows_variance", case_named("variance").text, {}, {"r=5 x=7", "r=3 x=8192", "r=4 x=5001"}},
      {"rows_logsumexp", case_named("logsumexp").text, {}, {"r=7 x=9", "r=3 x=4096", "r=5 x=5001"}},
      {"rows_vector",
       rows_of("rows_vector", "input W: f16[r, x]; input V: f16[x]\nY: f32[r] = sum[x](W[r, x] * V[x])\noutput Y\n"),
       {"group r 8, stream x 64 at smem"},
       {"r=5 x=7", "r=6 x=4096", "r=9 x=5001"}},
      {"rows_pointwise",
       rows_of("rows_pointwise",
               "input X: f16[r, x]; input B: f16[x]; input R: f32[r, x]\n"
               "Y: f16[r, x] = gelu(X[r, x] + B[x]) + R[r, x]\noutput Y\n"),
       {eight},
       {"r=5 x=7", "r=16 x=2048", "r=19 x=3001"}},
      {"rows_types",
       rows_of("rows_types",
               "input A: i8[r, x]; input D: f64[r, x]; input M: bool[r, x]\n"
               "E: f64[r, x] = where(M[r, x], D[r, x] / 3, A[r, x])\n"
               "Z: f64[r] = max[x](E[r, x])\noutput E; output Z\n",
               256),
       {by_rows},
       {"r=5 x=7", "r=8 x=256", "r=7 x=199"}},
      {"rows_integers",
       rows_of("rows_integers",
               "input A: i8[r, x]; input B: i8[r, x]\n"
               "E: i8[r, x] = A[r, x] - 2 * B[r, x]\n"
               "Y: i8[r] = max[x](A[r, x])\nZ: i32[r] = sum[x](B[r, x])\noutput E; output Y; output Z\n",
               256),
       {by_rows},
       {"r=5 x=7", "r=8 x=256", "r=7 x=199"}},
      {"rows_window",
       case_named("average_pooling").text,
       {},
       {"n=2 c=5 u=3 v=4", "n=1 c=256 u=4 v=4", "n=2 c=77 u=3 v=5"}},
  };
}

// Those, and the ones that take the most registers beside values, of softmax and norms along 128 to 50000 positions.
std::vector<Case> compiled_rows() {
  auto all = row_cases();
  const std::vector<std::string> by_rows = {"group r 1 at smem"};
  const auto wide = [&](const char* name, const std::string& text, std::int64_t x) {
    all.push_back({name, rows_of(name, text, x), by_rows, {}});
  };
  const std::string layernorm =
      "input X: {0}[r, x]; input G: {0}[x]; input B: {0}[x]\n"
      "Y: {0}[r, x] = layernorm[x](X[r, x]) * G[x] + B[x]\noutput Y\n";
  wide("wide_layernorm_f16", fmt::format(fmt::runtime(layernorm), "f16"), 8192);
  wide("wide_layernorm_f32", fmt::format(fmt::runtime(layernorm), "f32"), 8192);
  wide("wide_rmsnorm",
       "input X: f16[r, x]; input G: f16[x]\n"
       "Y: f16[r, x] = X[r, x] * rsqrt(sum[x](X[r, x]^2) / size(x) + 0.00001) * G[x]\noutput Y\n",
       8192);
  wide("wide_softmax", "input S: f32[r, x]\nP: f32[r, x] = softmax[x](S[r, x])\noutput P\n", 12288);
  return all;
}

Partition in_rows(const Kernel& kernel) {
  return std::get<RowNest>(distribute_rows(kernel, read_machine(machine))).partition;
}

EmittedCode emitted(const Planned& planned) {
  const auto code = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
  CAPTURE(code.notes);
  for (const auto& note : code.notes) REQUIRE(note.find("assigns its rows to warps") != note.npos);
  return code;
}

}  // namespace

TEST_CASE("rows over warps compute what the diagram means and move what the model says", "[emulated][rows]") {
  for (const auto& each : row_cases()) DYNAMIC_SECTION(each.name) {
      const auto planned = plan(each, machine);
      emulate::run_all(each, planned, emitted(planned).files, in_rows, [](emulate::Counts&) {});
    }
}

TEST_CASE("the emulation finds a barrier between warps of a row left out", "[emulated][rows]") {
  const auto each = row_cases().front();
  const auto planned = plan(each, machine);
  const auto output = emulate::planted("rows_planted", planned.diagram, emitted(planned).files, "",
                                       {{"  __syncthreads();\n", ""}}, "r=6 x=2048");
  INFO(output);
  CHECK((output.find("race: ") != output.npos || output.find("nobody wrote") != output.npos));
}

TEST_CASE("the emulation finds a lane that reads what another has of a row in shared memory", "[emulated][rows]") {
  const auto all = row_cases();
  const auto each = *std::find_if(all.begin(), all.end(), [](const Case& c) { return c.name == "rows_longer"; });
  const auto planned = plan(each, machine);
  const auto output =
      emulate::planted("rows_planted_lane", planned.diagram, emitted(planned).files, "",
                       {{"napkin_shared_read(S_reg + v)", "napkin_shared_read(S_reg + (v ^ 1))"}}, "r=1 x=40000");
  INFO(output);
  CHECK((output.find("race: ") != output.npos || output.find("nobody wrote") != output.npos));
}

// Blocks of a launch bound are those of the machine that a kernel is planned for: an SM of an A100 holds 2048 threads,
// one of an RTX 4090 1536.
TEST_CASE("kernels of rows compile without a warning and spill nothing", "[nvcc][rows]") {
  const auto compile = [](const Case& each, const char* planned_for, const char* first, const char* second) {
    const auto files = emitted(plan(each, planned_for)).files;
    const auto folder = write(fmt::format("cuda_tests/{}_nvcc_{}", each.name, first), files);
    const auto ran =
        run(fmt::format("cd {0} && {1} -Xcompiler -Wall,-Wextra -Xptxas -v -gencode arch=compute_{2},code=sm_{2} "
                        "-gencode arch=compute_{3},code=sm_{3} -fatbin {4} -o kernel.fatbin",
                        folder, NAPKIN_NVCC, first, second, files.front().name));
    INFO(ran.output);
    REQUIRE(ran.status == 0);
    CHECK(ran.output.find("warning") == ran.output.npos);
    const std::regex spills_nothing("for 'sm_(\\d+)'[^]*?0 bytes stack frame, 0 bytes spill stores");
    const std::sregex_iterator all(ran.output.begin(), ran.output.end(), spills_nothing);
    CHECK(std::distance(all, std::sregex_iterator()) == 2);
  };
  for (const auto& each : compiled_rows()) DYNAMIC_SECTION(each.name) {
      compile(each, machine, "80", "90");
      if (each.name == "rows_long" || each.name == "rows_longer") compile(each, "rtx4090", "86", "89");
    }
}
