// How blocks come to the pieces of the grid: blocks that stay for several, in the order that the model finds best,
// emulated on a machine of two cores against the plain meaning; what they move against the model; and mistakes planted
// by hand.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "napkin/distribute.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* machine = "h100-sxm5";

std::string product(std::int64_t size, const std::string& result = "sum[k](A[m, k] * B[k, n])") {
  return fmt::format(R"(diagram product
axis m = {0}; axis n = {0}; axis k = 512
input A: f16[m, k]; input B: f16[k, n]; input R: f16[m, n]
C: f16[m, n] = {1} + R[m, n]
output C
)",
                     size, result);
}
const Case attention{"grid_attention",
                     case_named("attention").text,
                     {"group q 64, stream x 64 at smem; group q 16 at reg"},
                     {"q=64 x=64 d=64", "q=320 x=136 d=64", "q=300 x=200 d=104"}};

std::vector<Case> cases_of_grids() {
  const std::string by_teams = "group m 128, n 64, stream k 64 at smem; group m 16 at reg";
  return {
      attention,
      // The third array is read last: the next piece's tiles of the loop come before it.
      {"grid_residual", product(512), {by_teams}, {"m=128 n=64 k=64", "m=256 n=192 k=128", "m=300 n=200 k=152"}},
      {"grid_order", product(4096), {by_teams}, {"m=1024 n=64 k=64", "m=1280 n=128 k=64", "m=1320 n=200 k=72"}},
  };
}

EmittedCode emitted(const Planned& planned) {
  return emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor);
}

WarpNest on_teams(const Kernel& kernel) { return std::get<WarpNest>(distribute_teams(kernel, read_machine(machine))); }

void check(const Case& each) {
  const auto planned = plan(each, machine);
  const auto files = emitted(planned);
  CAPTURE(files.notes);
  REQUIRE(files.files.front().text.find("at_once(") != std::string::npos);
  const auto folder = emulate::build(each.name, planned.diagram, files.files);
  for (const auto& sizes : each.run_sizes) {
    CAPTURE(sizes);
    const auto ran = emulate::harness(folder, sizes);
    INFO(ran.output);
    REQUIRE(ran.status == 0);
    auto counted = emulate::counts(ran.output);
    CHECK(counted["team_operations"] > 0);
    CHECK(counted["read_bytes"] + counted["written_bytes"] ==
          emulate::model_bytes(each, planned, sizes, [](const Kernel& kernel) { return on_teams(kernel).partition; }));
  }
}

// What the harness says of the kernel of five pieces on two cores with one mistake; `which` of several places.
std::string planted(const std::string& name, const std::string& right, const std::string& wrong, int which = 0) {
  const auto planned = plan(attention, machine);
  auto files = emitted(planned).files;
  auto& text = files.front().text;
  auto at = text.find(right, text.find("attention_kernel_teams"));
  for (; which > 0; --which) at = text.find(right, at + 1);
  REQUIRE(at != text.npos);
  text.replace(at, right.size(), wrong);
  const auto folder = emulate::build(name, planned.diagram, files);
  return emulate::harness(folder, "q=320 x=200 d=64").output;
}

bool says(const std::string& output, const std::string& words) { return output.find(words) != output.npos; }

}  // namespace

TEST_CASE("blocks that stay compute every piece of the grid", "[emulated][teams]") {
  for (const auto& each : cases_of_grids()) DYNAMIC_SECTION(each.name) {
      check(each);
    }
}

TEST_CASE("pieces are taken in the order that brings least from memory", "[emulated][teams]") {
  const auto by_teams = [](const std::string& text, const std::string& labels) {
    return on_teams(plan({"", text, {labels}, {}}, machine).plan.kernels.front()).walk;
  };
  const auto small = by_teams(product(512), "group m 128, n 64, stream k 64 at smem; group m 16 at reg");
  CHECK(small.stays);
  CHECK(small.by == 1);
  const auto large = by_teams(product(4096), "group m 128, n 64, stream k 64 at smem; group m 16 at reg");
  REQUIRE(large.order.size() == 2);
  CHECK(large.by == 8);
  // Where the pieces of a mask differ, whoever is done first takes the next one.
  const auto masked = by_teams(case_named("causal").text, "group q 64, stream x 64 at smem; group q 16 at reg");
  CHECK_FALSE(masked.stays);
}

TEST_CASE("the emulation finds mistakes planted in blocks that stay", "[emulated][teams]") {
  SECTION("none") { CHECK(says(planted("grid_none", "Q_smem_phase ^= 1;", "Q_smem_phase ^= 1;"), "good")); }
  SECTION("tiles of the next piece copied while those of this one are read") {
    CHECK(says(planted("grid_wait", "napkin_barrier_wait(Q_smem_empty, Q_smem_phase ^ 1);", ""), "emulation: "));
  }
  SECTION("tiles that are never released") {
    CHECK(says(planted("grid_release", "napkin_release(Q_smem_empty);", ""), "wait forever"));
  }
  SECTION("a phase that is not carried on to the next piece") {
    CHECK(says(planted("grid_phase", "Q_smem_phase ^= 1;", "", 1), "emulation: "));
  }
  SECTION("a ring begun anew by one side") {
    CHECK(says(planted("grid_ring", "Q_smem_phase ^= 1;", "Q_smem_phase ^= 1; x_slot = x_phase = 0;"), "emulation: "));
  }
  SECTION("a piece passed over") {
    CHECK_FALSE(says(planted("grid_pieces", "+= gridDim.x", "+= 2 * gridDim.x"), "good"));
  }
  SECTION("a piece passed over by both sides") {
    const auto planned = plan(attention, machine);
    auto files = emitted(planned).files;
    auto& text = files.front().text;
    const std::string right = "+= gridDim.x";
    for (auto at = text.find(right); at != text.npos; at = text.find(right, at + 1))
      text.replace(at, right.size(), "+= gridDim.x + 1");
    const auto folder = emulate::build("grid_both", planned.diagram, files);
    CHECK_FALSE(says(emulate::harness(folder, "q=320 x=200 d=64").output, "good"));
  }
}
