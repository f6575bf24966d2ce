// Plans in chunks whose last one is shorter: its statements have kernels or parts of kernels of their own, and all
// write into one array.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* attention = R"(diagram linear
axis h = 2; axis t = 200; axis x = 200; axis d = 32; axis e = 32
input Q: f16[h, t, d]; input K: f16[h, x, d]; input V: f16[h, x, e]
Y[h, t, e] = sum[x](where(x <= t, sum[d](Q[h, t, d] * K[h, x, d]), 0) * V[h, x, e])
output Y
)";
constexpr const char* behind = R"(diagram behind
axis r = 3; axis t = 211; axis x = 211
input A: f32[r, x]; input B: f32[r, t]
Y[r, t] = max[x](where(x >= t, A[r, x] + B[r, t], -inf))
output Y
)";

void check(const std::string& name, const char* text, CudaPath path, const std::vector<std::string>& sizes) {
  const auto hardware = read_machine("h100-sxm5");
  Goal goal;
  goal.chunk = 64, goal.patience = 0.05;
  auto found = search(read_text(text), hardware, goal);
  REQUIRE(found.prefixes.size() == 1);
  CHECK(found.prefixes[0].rest > 0);
  plan_instead(found.plan, hardware);
  const auto code = emit_cuda(found.diagram, found.plan, hardware, path);
  const auto folder = emulate::build(name, found.diagram, code.files);
  for (const auto& words : sizes) {
    const auto ran = emulate::harness(folder, words);
    CAPTURE(words, ran.output);
    CHECK(ran.status == 0);
  }
}

}  // namespace

TEST_CASE("emulated kernels of chunks are right where the last one is shorter", "[emulated]") {
  const std::vector<std::string> of_linear{"h=2 t=200 x=200 d=32 e=32", "h=1 t=193 x=193 d=20 e=24"};
  check("chunks_reference", attention, CudaPath::reference, of_linear);
  check("chunks_tensor", attention, CudaPath::tensor, of_linear);
  check("chunks_behind", behind, CudaPath::tensor, {"r=3 t=211 x=211", "r=2 t=194 x=194"});
}
