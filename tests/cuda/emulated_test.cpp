// Every case's kernels, of examples every second or all, compiled for the host and run thread by thread, against the
// plain meaning: once by their own harness, and at the first of its sizes by evaluate(), which is slow.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "support/catch.hpp"

using namespace napkin;
using namespace kernel_cases;

TEST_CASE("emitted kernels, emulated, compute what the diagram means", "[emulated][cases]") {
  std::size_t turn = 0;
  for (const auto& each : cases()) {
    if (each.labels.empty() && left_out(turn++)) continue;
    DYNAMIC_SECTION(each.name) {
      const auto planned = plan(each);
      const auto folder =
          emulate::build(each.name, planned.diagram, emit_cuda(planned.diagram, planned.plan, planned.hardware));
      for (const auto& sizes : each.run_sizes) {
        CAPTURE(sizes);
        const auto harness = run(fmt::format("cd {} && ./harness {}", folder, sizes));
        INFO(harness.output);
        CHECK(harness.status == 0);
        if (sizes == each.run_sizes.front()) emulate::compare(each.text, folder, sizes);
      }
    }
  }
}

TEST_CASE("groups of an axis at two levels above the cores are pieces of pieces", "[emulated]") {
  const Case each{"pieces_of_pieces",
                  "diagram product\naxis a = 96; axis b = 40; axis c = 64\ninput A: f16[a, b]; input B: f16[b, c]\n"
                  "C[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n",
                  {"group a 48, c 32 at l2; group a 16, c 16, stream b 16 at smem"},
                  {"a=100 b=33 c=70", "a=48 b=16 c=32"}};
  const auto planned = plan(each, "a100-sxm4-80-l2");
  const auto folder =
      emulate::build(each.name, planned.diagram, emit_cuda(planned.diagram, planned.plan, planned.hardware));
  for (const auto& sizes : each.run_sizes) {
    const auto harness = run(fmt::format("cd {} && ./harness {}", folder, sizes));
    INFO(harness.output);
    CHECK(harness.status == 0);
  }
  emulate::compare(each.text, folder, each.run_sizes.front());
}
