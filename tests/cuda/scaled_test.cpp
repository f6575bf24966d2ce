// Products whose block scales multiply an operand before the sum: what the search plans, compiled and run.
#include <fmt/format.h>

#include <algorithm>

#include "cuda/emulate.hpp"
#include "support/catch.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

// One scale for `length` numbers; the second operand has no scale if `types` names none.
std::string product(const std::string& a, const std::string& b, const std::string& of_a, const std::string& of_b,
                    int length) {
  const auto scale = [](const std::string& type, const char* array) {
    return type.empty() ? "" : fmt::format("input {}: {}[{}, kb]\n", array, type, *array == 's' ? "m" : "n");
  };
  return fmt::format(R"(diagram scaled
axis m = 512; axis n = 512; axis k = 512; axis kb = (k + {4}) / {5}
input A: {0}[m, k]; input B: {1}[n, k]
{2}{3}C: f32[m, n] = sum[k](A[m, k] * B[n, k]{6}{7})
output C
)",
                     a, b, scale(of_a, "s"), scale(of_b, "t"), length - 1, length,
                     of_a.empty() ? "" : fmt::format(" * s[m, k / {}]", length),
                     of_b.empty() ? "" : fmt::format(" * t[n, k / {}]", length));
}

}  // namespace

TEST_CASE("kernels of products with scaled operands are right", "[emulated][tensor][packed]") {
  struct Scaled {
    Case each;
    std::string made;  // an operand as its statement is planned
  };
  const std::vector<Scaled> all = {
      {{"mx", product("f4e2m1", "f4e2m1", "f8e8m0", "f8e8m0", 32), {}, {"m=64 n=64 k=64 kb=2", "m=70 n=101 k=90 kb=3"}},
       "As: bf16"},
      {{"nv", product("f4e2m1", "f4e2m1", "f8e4m3", "f8e4m3", 16), {}, {"m=64 n=64 k=64 kb=4", "m=7 n=101 k=50 kb=4"}},
       "As: f16"},
      {{"weights", product("bf16", "f4e2m1", "", "f8e8m0", 32), {}, {"m=64 n=64 k=64 kb=2", "m=7 n=101 k=90 kb=3"}},
       "Bt: bf16"},
  };
  for (const auto* machine : {"rtx4090", "h100-sxm5"})
    for (const auto& [each, made] : all) DYNAMIC_SECTION(each.name << " " << machine) {
        const auto planned = plan(each, machine);
        const auto& diagram = planned.diagram;
        const auto found = std::ranges::find(diagram.arrays, made.substr(0, made.find(':')), &Array::name);
        REQUIRE(found != diagram.arrays.end());
        CHECK(fmt::format("{}: {}", found->name, row(found->type).name) == made);
        const auto code = emit_cuda(diagram, planned.plan, planned.hardware, CudaPath::tensor);
        CAPTURE(code.notes);
        const auto folder = emulate::build("scaled_" + each.name, diagram, code.files);
        for (const auto& size : each.run_sizes) {
          const auto ran = emulate::harness(folder, size);
          CAPTURE(size, ran.output);
          CHECK(ran.status == 0);
          const auto counted = emulate::counts(ran.output);
          CHECK(counted.at("matrix_operations") + counted.at("warpgroup_operations") > 0);
          emulate::compare(each.text, folder, size);
        }
      }
}

// Also where no product reads them itself.
TEST_CASE("TMA copies no numbers of 4 bits", "[emulated][tensor][packed]") {
  const std::string sizes = "axis m = 512; axis n = 512; axis k = 512\n";
  const std::vector<Case> all = {
      {"fused",
       "diagram fused\n" + sizes +
           "axis kb = (k + 31) / 32\ninput A: bf16[m, k]; input B: f4e2m1[n, k]; input t: f8e8m0[n, kb]\n"
           "W: bf16[n, k] = B[n, k] * t[n, k / 32]\nC: f32[m, n] = sum[k](A[m, k] * W[n, k])\noutput C\n",
       {"group n 64, m 16, stream k 64 at smem"},
       {"m=64 n=64 k=64 kb=2", "m=7 n=101 k=90 kb=3"}},
      {"bias",
       "diagram bias\n" + sizes +
           "input A: f16[m, k]; input B: f16[n, k]; input b: f4e2m1[n]\n"
           "C: f32[m, n] = sum[k](A[m, k] * B[n, k]) + b[n]\noutput C\n",
       {"group m 128, n 64, stream k 64 at smem"},
       {"m=64 n=64 k=64", "m=7 n=102 k=40"}},
  };
  for (const auto& each : all) DYNAMIC_SECTION(each.name) {
      const auto planned = plan(each, "h100-sxm5");
      const auto code = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
      CHECK(code.files.front().text.find("planned_path(void) { return \"warps\"") != std::string::npos);
      const auto folder = emulate::build("no_tma_" + each.name, planned.diagram, code.files);
      for (const auto& size : each.run_sizes) {
        CAPTURE(size);
        emulate::compare(each.text, folder, size);
      }
    }
}
