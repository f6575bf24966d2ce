// Every case's kernels, compiled for the host and run thread by thread, against the plain meaning: once by their own
// harness, and at the first of its sizes by evaluate(), which is slow.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "support/catch.hpp"

using namespace napkin;
using namespace kernel_cases;

TEST_CASE("emitted kernels, emulated, compute what the diagram means", "[emulated][cases]") {
  for (const auto& each : cases()) DYNAMIC_SECTION(each.name) {
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
