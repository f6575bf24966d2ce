// Sums of products of f8, of which matrix units keep few bits: on numbers of one sign, where nothing cancels, kernels
// come as close as sums in f32, and the same kernels without promotion do not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cuda/emulate.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

std::string product(const std::string& type) {
  return fmt::format(R"(diagram product
axis m = 512; axis n = 512; axis k = 4096
input A: {0}[m, k]; input B: {0}[n, k]
C: f32[m, n] = sum[k](A[m, k] * B[n, k])
output C
)",
                     type);
}

// A leading product whose sums are promoted within a step, and trailing ones beside what lanes compute.
constexpr const char* scores = R"(diagram scores
axis q = 256; axis x = 512; axis d = 256; axis v = 64
input Q: f8e4m3[q, d]; input K: f8e4m3[x, d]; input W: f8e4m3[q, x]; input V: f8e4m3[v, x]
S[q, x] = sum[d](Q[q, d] * K[x, d])
L[q] = logsumexp[x](S[q, x])
O: f32[q, v] = sum[x](W[q, x] * V[v, x]) * L[q]
output O
)";

Values positive_values(const Diagram& diagram) {
  auto values = drawn_values(diagram, 11);
  for (auto& array : values.arrays)
    for (auto& number : array) number = std::abs(number);
  return values;
}

// Of all outputs, the greatest difference from the plain meaning, relative to it.
double error_of(const std::string& folder, const Diagram& diagram) {
  auto values = positive_values(diagram);
  const auto result = emulate::run_alone(folder, diagram, values);
  INFO(result.ran.output);
  REQUIRE(result.ran.status == 0);
  evaluate(diagram, values, false);
  double worst = 0;
  for (std::size_t i = 0; i < diagram.outputs.size(); ++i) {
    const auto& wanted = values.arrays[diagram.outputs[i].index];
    REQUIRE(result.outputs[i].size() == wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k)
      worst = std::max(worst, std::abs(result.outputs[i][k] - wanted[k]) / std::max(1e-3, std::abs(wanted[k])));
  }
  return worst;
}

std::vector<EmittedFile> emitted(const Planned& planned) {
  return emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
}

// The kernel's own text with instructions that add to the sums in f32 themselves.
std::vector<EmittedFile> without_promotion(std::vector<EmittedFile> files) {
  constexpr std::string_view part = "_part[";
  for (auto& file : files)
    for (auto at = file.text.find(part); at != std::string::npos; at = file.text.find(part, at + 1)) {
      const auto name = file.text.find_last_of(" (", at);
      if (file.text[name] == '(') file.text.erase(at, part.size() - 1);
    }
  return files;
}

struct Way {
  std::string name, type, labels, profile;
};

}  // namespace

TEST_CASE("sums of f8 are promoted to f32", "[emulated][warpgroups]") {
  const std::vector<Way> ways = {
      {"warpgroups_64", "f8e4m3", "group m 64, n 64, stream k 64 at smem; group m 16 at reg", "h100-sxm5"},
      {"warpgroups_128", "f8e5m2", "group m 64, n 64, stream k 128 at smem; group m 16 at reg", "h100-sxm5"},
      {"warpgroups_384", "f8e4m3", "group m 64, n 64, stream k 384 at smem; group m 16 at reg", "h100-sxm5"},
      {"warps_64", "f8e4m3", "group m 64, n 64, stream k 64 at smem; group m 16 at reg", "rtx4090"},
      {"warps_256", "f8e5m2", "group m 64, n 64, stream k 256 at smem; group m 16 at reg", "rtx4090"},
  };
  for (const auto& way : some_of(ways)) DYNAMIC_SECTION(way.name) {
      const auto planned = plan({"", product(way.type), {way.labels}, {}}, way.profile);
      const auto files = emitted(planned);
      const auto diagram = read_text(product(way.type), sizes_of("m=64 n=64 k=4112"));
      const auto folder = emulate::build_alone("sums_" + way.name, planned.diagram, files);
      CHECK(error_of(folder, diagram) < 3e-4);
      const auto lost = emulate::build_alone("sums_lost_" + way.name, planned.diagram, without_promotion(files));
      CHECK(error_of(lost, diagram) > 1e-3);
    }
}

TEST_CASE("products of a step of several are promoted each", "[emulated][warpgroups]") {
  const auto planned = plan({"", scores, {"group q 128, stream x 64 at smem; group q 16 at reg"}, {}}, "h100-sxm5");
  const auto folder = emulate::build_alone("sums_scores", planned.diagram, emitted(planned));
  for (const std::string sizes : {"q=128 x=512 d=256 v=64", "q=150 x=272 d=208 v=48"}) {
    CAPTURE(sizes);
    CHECK(error_of(folder, read_text(scores, sizes_of(sizes))) < 3e-4);
  }
}

// Sums of a block end where they would be promoted: its scale is applied in f32.
TEST_CASE("products with block scales keep what promotion keeps", "[emulated][warpgroups]") {
  constexpr const char* scaled = R"(diagram scaled
axis m = 512; axis n = 512; axis k = 4096; axis kb = (k + 127) / 128; axis nb = (n + 127) / 128
input A: f8e4m3[m, k]; input B: f8e4m3[n, k]; input s: f32[kb, m]; input t: f32[nb, kb]
C: f32[m, n] = sum[k](A[m, k] * B[n, k] * s[k / 128, m] * t[n / 128, k / 128])
output C
)";
  const auto planned = plan({"", scaled, {}, {}}, "h100-sxm5");
  const auto folder = emulate::build_alone("sums_scaled", planned.diagram, emitted(planned));
  for (const std::string sizes : {"m=64 n=64 k=4096 kb=32 nb=1", "m=144 n=200 k=512 kb=4 nb=2"}) {
    CAPTURE(sizes);
    CHECK(error_of(folder, read_text(scaled, sizes_of(sizes))) < 3e-4);
  }
}
