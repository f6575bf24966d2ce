// Products of two formats, and of operands that no load of matrices has as they lie in memory: emulated at three sizes,
// two of them ragged, against the plain meaning.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

const std::vector<std::string> sizes = {"m=64 n=64 k=64", "m=128 n=64 k=96", "m=75 n=101 k=42"};

struct Operand {
  std::string type, axes;
};
Case product(const Operand& a, const Operand& b, const std::string& result = "f32") {
  constexpr const char* tile = "group m 64, n 64, stream k 32 at smem; group m 32 at reg";
  const auto text = fmt::format(R"(diagram product
axis m = 512; axis n = 512; axis k = 512
input A: {}[{}]; input B: {}[{}]
C: {}[m, n] = sum[k](A[{}] * B[{}])
output C
)",
                                a.type, a.axes, b.type, b.axes, result, a.axes, b.axes);
  auto name = fmt::format("{}_{}_{}_{}", a.type, a.axes, b.type, b.axes);
  std::erase_if(name, [](char c) { return c == ',' || c == ' '; });
  return {name, text, {tile}, sizes};
}

// Of what a warp computed and holds in that format.
Case computed(const std::string& type, const std::string& axes, const std::string& tile = "group q 16 at reg") {
  const auto text = fmt::format(R"(diagram computed
axis q = 512; axis x = 512; axis d = 64
input Q: f16[q, d]; input K: f16[x, d]; input V: {0}[{1}]
S[q, x] = sum[d](Q[q, d] * K[x, d]) / 8
P: {0}[q, x] = softmax[x](S[q, x])
O: f16[q, d] = sum[x](P[q, x] * V[{1}])
output O
)",
                                type, axes);
  auto name = fmt::format("computed_{}_{}", type, axes);
  std::erase_if(name, [](char c) { return c == ',' || c == ' '; });
  return {name, text, {"group q 64, stream x 32 at smem; " + tile}, {"q=64 x=64", "q=75 x=112"}};
}

std::optional<Partition> as_distributed(const Kernel& kernel, const Hardware& hardware) {
  const auto warps = distribute(kernel, hardware);
  if (const auto* made = std::get_if<WarpNest>(&warps)) return made->partition;
  return std::nullopt;
}

std::vector<EmittedFile> emitted(const Planned& planned, const std::string& path = "warps") {
  auto files = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
  CHECK(files.front().text.find(fmt::format("planned_path(void) {{ return \"{}\"", path)) != std::string::npos);
  return files;
}

// A computed operand, the other operand's format, what doubling 1.1 gives in the format of the first, and where.
struct Rounded {
  std::string operand, other;
  double value;
  std::string target = "rtx4090", path = "warps";
};

// Returns the results of a product of 64 positions whose operands are 1.1, doubled, and 1.
std::vector<double> results_of(const Rounded& each) {
  const auto text = fmt::format(R"(diagram rounded
axis m = 512; axis n = 512; axis k = 512
input A: f32[m, k]; input B: {}[n, k]
C: f32[m, n] = sum[k]({}(A[m, k] * 2) * B[n, k])
output C
)",
                                each.other, each.operand);
  const auto planned = plan({"", text, {"group m 64, n 64, stream k 32 at smem"}, {}}, each.target);
  const auto name = fmt::format("rounded_{}_{}_{}", each.operand, each.other, each.path);
  const auto folder = emulate::build_alone(name, planned.diagram, emitted(planned, each.path));
  const auto diagram = read_text(text, sizes_of("m=64 n=40 k=64"));
  auto values = drawn_values(diagram, 1);
  for (auto& number : values.arrays[diagram.inputs[0].index]) number = 1.1;
  for (auto& number : values.arrays[diagram.inputs[1].index]) number = 1;
  const auto result = emulate::run_alone(folder, diagram, values);
  INFO(result.ran.output);
  REQUIRE(result.ran.status == 0);
  return result.outputs.at(0);
}

}  // namespace

TEST_CASE("a computed operand is rounded to its own format before the instruction's", "[emulated][tensor][formats]") {
  for (const Rounded& each : {Rounded{"i8", "f16", 2},
                              {"f8e4m3", "f16", 2.25},
                              {"bf16", "tf32", 2.203125},
                              {"i8", "f16", 2, "h100-sxm5", "warpgroups"},
                              {"f8e4m3", "f16", 2.25, "h100-sxm5", "warpgroups"}}) {
    CAPTURE(each.operand, each.other, each.path);
    for (const double result : results_of(each)) REQUIRE(result == 64 * each.value);
  }
}

// Every second, or all.
TEST_CASE("matrix units multiply operands of two formats and along any axis", "[emulated][tensor][formats]") {
  const std::vector<Case> cases = {
      product({"f16", "m, k"}, {"f8e4m3", "n, k"}),
      product({"f8e5m2", "m, k"}, {"bf16", "k, n"}),
      product({"f16", "k, m"}, {"i8", "k, n"}, "f16"),
      product({"f16", "m, k"}, {"i4", "n, k"}),
      product({"f8e4m3", "k, m"}, {"f8e5m2", "k, n"}),
      product({"tf32", "m, k"}, {"f16", "k, n"}),
      product({"tf32", "k, m"}, {"tf32", "k, n"}),
      product({"i8", "m, k"}, {"i8", "k, n"}, "i32"),
      product({"f8e4m3", "k, m"}, {"f8e4m3", "n, k"}),
      computed("f8e4m3", "x, d"),
      computed("f8e4m3", "d, x"),
      computed("f8e5m2", "d, x"),
      {"computed_i8",
       R"(diagram computed
axis q = 512; axis x = 512; axis d = 64
input Q: f16[q, d]; input K: f16[x, d]; input V: i8[d, x]
P: i8[q, x] = sum[d](Q[q, d] * K[x, d])
O: i32[q, d] = sum[x](P[q, x] * V[d, x])
output O
)",
       {"group q 64, stream x 32 at smem; group q 16 at reg"},
       {"q=64 x=64", "q=75 x=112"}},
      computed("tf32", "x, d"),
      computed("tf32", "d, x"),
  };
  for (std::size_t turn = 0; turn < cases.size(); ++turn) {
    const auto& each = cases[turn];
    if (left_out(turn)) continue;
    DYNAMIC_SECTION(each.name) {
      const auto planned = plan(each, "rtx4090");
      emulate::run_all(
          each, planned, emitted(planned),
          [&](const Kernel& kernel) { return as_distributed(kernel, planned.hardware); },
          [](emulate::Counts& counted) { CHECK(counted["matrix_operations"] > 0); });
    }
  }
}

TEST_CASE("machines without products of f8 take them along any axis", "[emulated][tensor][formats]") {
  const auto each = product({"f8e4m3", "m, k"}, {"f8e4m3", "k, n"});
  const auto planned = plan(each, "a100-sxm4-80");
  auto files = emitted(planned);
  files.front().text = "#define __CUDA_ARCH__ 800\n" + files.front().text;
  const auto folder = emulate::build("formats_widened", planned.diagram, files);
  for (const auto& size : sizes) {
    const auto ran = emulate::harness(folder, size);
    CAPTURE(size, ran.output);
    CHECK(ran.status == 0);
    CHECK(emulate::counts(ran.output)["matrix_operations"] > 0);
  }
}

TEST_CASE("warpgroups leave operands that are read one by one to single warps", "[emulated][tensor][formats]") {
  for (const auto& each : {product({"f16", "m, k"}, {"f8e4m3", "n, k"}), product({"tf32", "m, k"}, {"tf32", "k, n"}),
                           computed("tf32", "d, x"), computed("f8e4m3", "x, d")})
    DYNAMIC_SECTION(each.name) {
      const auto planned = plan(each, "h100-sxm5");
      const auto code = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
      CAPTURE(code.notes);
      CHECK(code.files.front().text.find("planned_path(void) { return \"warps\"") != std::string::npos);
      CHECK(code.files.front().text.find("napkin_warpgroup_") == std::string::npos);
    }
}
