// Operands that every warp, or the one that needs it, has computed as a whole: of columns, on matrix units, emulated
// and compiled.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "support/catch.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* machine = "a100-sxm4-80";

// A product is the right operand of the next one, in a format.
std::string chained(const std::string& inputs, const std::string& between) {
  return fmt::format(R"(diagram chained
axis q = 512; axis d = 64; axis x = 128; axis e = 64
input Q: {0}[q, d]; input K: {0}[x, d]; input V: {0}[x, e]
T: {1}[d, e] = sum[x](K[x, d] * V[x, e])
Y[q, e] = sum[d](Q[q, d] * T[d, e])
output Y
)",
                     inputs, between);
}
// Chunks that one kernel takes in order: what it carries is the right operand, and the masked scores the left one.
std::string in_order(const std::string& carried) {
  return fmt::format(R"(diagram in_order
axis h = 2; axis c = 6; axis b = 6; axis i = 16; axis j = 16; axis d = 64; axis e = 64
input Q: f16[h, c, i, d]; input K: f16[h, b, j, d]; input V: f16[h, b, j, e]
S: f32[h, c, d, e] = sum[j](K[h, c, j, d] * V[h, c, j, e])
P: {}[h, c, d, e] = sum[b](where(b < c, S[h, b, d, e], 0))
l: f32[h, c, i, j] = where(j <= i, sum[d](Q[h, c, i, d] * K[h, c, j, d]), 0)
Y: f16[h, c, i, e] = sum[d](Q[h, c, i, d] * P[h, c, d, e]) + sum[j](l[h, c, i, j] * V[h, c, j, e])
output Y
)",
                     carried);
}

// The same with what was there before the first chunk.
constexpr const char* begun = R"(diagram begun
axis h = 2; axis c = 6; axis b = 6; axis i = 16; axis j = 16; axis d = 64; axis e = 64
input Q: f16[h, c, i, d]; input K: f16[h, b, j, d]; input V: f16[h, b, j, e]; input Z: f32[h, d, e]
S: f32[h, c, d, e] = sum[j](K[h, c, j, d] * V[h, c, j, e])
P: f32[h, c, d, e] = where(h > 0, Z[h, d, e], 0) + sum[b](where(b < c, S[h, b, d, e], 0))
Y: f16[h, c, i, e] = where(c > 0, sum[d](Q[h, c, i, d] * P[h, c, d, e]), 0)
output Y
)";
// Extremes of positions that are taken in order, with one from before the first.
constexpr const char* extreme = R"(diagram extreme
axis r = 5; axis c = 9; axis b = 9; axis j = 8
input A: f32[r, c, j]; input Z: f32[r]
M: f32[r, c] = max[j](A[r, c, j])
B: f32[r, c] = max(max[b](where(b < c, M[r, b], -inf)), Z[r])
Y: f32[r, c, j] = A[r, c, j] - B[r, c]
output Y
)";

// Chunks that one kernel takes in order; what it carries is kept relative to a maximum.
constexpr const char* decaying = R"(diagram decaying
axis r = 3; axis c = 9; axis b = 9; axis i = 16; axis j = 16
input A: f32[r, c, j]; input G: f32[r, c, i]
M: f32[r, c] = max[j](-G[r, c, j])
B: f32[r, c] = max[b](where(b < c, M[r, b], -inf))
S: f32[r, c] = sum[j](A[r, c, j] * exp(-G[r, c, j] - M[r, c]))
P: f32[r, c] = sum[b](where(b < c, S[r, b] * exp(M[r, b] - B[r, c]), 0))
Y: f32[r, c, i] = where(c > 0, P[r, c] * exp(G[r, c, i] + B[r, c]), 0) + sum[j](where(j <= i, A[r, c, j] * exp(G[r, c, i] - G[r, c, j]), 0))
output Y
)";

std::vector<Case> all() {
  const std::vector<std::string> chain = {"q=64 d=64 x=64 e=64", "q=50 d=40 x=77 e=45"};
  const std::vector<std::string> chunks = {"h=2 c=6 b=6 i=16 j=16 d=64 e=64", "h=1 c=5 b=5 i=9 j=9 d=50 e=41"};
  const std::string by_columns = "group q 32, stream x 32 at smem; group e 16 at reg";
  const std::string one_after_another = "group h 1, stream c' 1 at smem; group e 16 at reg";
  return {{"columns_f16", chained("f16", "f16"), {by_columns}, chain},
          {"columns_in_parts", chained("f16", "f32"), {by_columns}, chain},
          {"columns_f8", chained("f8e4m3", "f8e4m3"), {by_columns}, chain},
          {"columns_tf32", chained("tf32", "tf32"), {by_columns}, chain},
          {"in_order_f16", in_order("f16"), {one_after_another}, chunks},
          {"in_order_in_parts", in_order("f32"), {one_after_another}, chunks},
          {"begun", begun, {one_after_another}, chunks}};
}

// Runs the reference kernels at all sizes. Other sizes are refused, since positions are taken in order together.
void emulate_in_order(const Case& given, const std::string& refused) {
  const auto planned = plan(given);
  const auto code = emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::reference);
  const auto folder = emulate::build(given.name, planned.diagram, code.files);
  for (const auto& sizes : given.run_sizes) {
    const auto ran = emulate::harness(folder, sizes);
    CAPTURE(sizes, ran.output);
    CHECK(ran.status == 0);
  }
  CHECK(emulate::harness(folder, refused).status != 0);
}

}  // namespace

TEST_CASE("warps multiply columns that they computed and move what the model says", "[emulated][tensor]") {
  for (const auto& each : all()) DYNAMIC_SECTION(each.name) {
      emulate::run_on_warps(each, machine);
    }
}

TEST_CASE("threads keep what they carry from position to position relative to a maximum", "[emulated]") {
  emulate_in_order({"decaying", decaying, {"group r 1, stream c 1 at smem"}, {"", "r=2 c=4 b=4 i=5 j=5"}},
                   "r=2 c=4 b=3 i=5 j=5");
}

TEST_CASE("threads begin with what was there before the first position", "[emulated]") {
  emulate_in_order({"extreme", extreme, {"group r 1, stream c 1 at smem"}, {"", "r=3 c=4 b=4 j=5"}}, "r=3 c=4 b=3 j=5");
}
