// Outputs that leave through shared memory by TMA: that they do where there is room and rows are aligned, what they
// move, and mistakes planted by hand.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "napkin/device.hpp"
#include "support/catch.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* machine = "h100-sxm5";
const Case attention{"", case_named("attention").text, {"group q 128, stream x 64 at smem; group q 16 at reg"}, {}};

std::vector<EmittedFile> emitted(const Planned& planned) {
  return emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
}
WarpNest on_warpgroups(const Planned& planned) {
  return std::get<WarpNest>(distribute_warpgroups(planned.plan.kernels.front(), planned.hardware));
}
std::string product(const std::string& result) {
  return fmt::format(R"(diagram product
axis m = 512; axis n = 512; axis k = 512
input A: f16[m, k]; input B: f16[n, k]
C: {} = sum[k](A[m, k] * B[n, k])
output C
)",
                     result);
}
bool says(const std::string& output, const std::string& words) { return output.find(words) != output.npos; }

// What the harness says of a kernel with three pieces on two cores and one mistake, the `which`-th of its places.
std::string planted(const std::string& name, const std::string& right, const std::string& wrong, int which = 0) {
  const auto planned = plan(attention, machine);
  return emulate::planted("stores_" + name, planned.diagram, emitted(planned), "attention_kernel_warpgroups",
                          {{right, wrong, which}}, "q=384 x=128 d=128");
}

}  // namespace

TEST_CASE("outputs leave through shared memory where that leaves room for rings", "[emulated][warpgroups][stores]") {
  const auto of = [](const std::string& text, const std::string& labels) {
    return on_warpgroups(plan({"", text, {labels}, {}}, machine));
  };
  const auto roomy = of(attention.text, "group q 128, stream x 64 at smem; group q 16 at reg");
  REQUIRE(roomy.stores.size() == 1);
  CHECK(roomy.stores.begin()->second.begin >= 2 * 4 * 64 * 128 * 2);  // behind four copies of both tiles
  CHECK(roomy.no_stores == "");
  const auto full = of(attention.text, "group q 128, stream x 176 at smem; group q 16 at reg");
  CHECK(full.stores.empty());
  CHECK(says(full.no_stores, "no space"));
  const auto across = of(product("f16[n, m]"), "group m 128, n 64, stream k 64 at smem; group n 16 at reg");
  CHECK(across.stores.size() == 1);
}

// Where rows of the array are not aligned numbers leave one by one; by boxes else: two pieces of rows, two of columns,
// and two warpgroups of a block, or one whose rows are two instructions'.
TEST_CASE("outputs leave along the rows of warpgroups and across them", "[emulated][warpgroups][stores]") {
  const std::string along = "group m 128, n 64, stream k 64 at smem; group m 16 at reg",
                    across = "group m 64, n 128, stream k 64 at smem; group n 16 at reg",
                    two = "group m 192, n 256, stream k 64 at smem; group m 96, n 64, stream k 16 at reg";
  struct Leaving {
    std::string name, type, labels;
    int boxes;
  };
  for (const auto& each :
       {Leaving{"along", "f16", along, 8}, Leaving{"along_wide", "f32", along, 16}, Leaving{"across", "f16", across, 8},
        Leaving{"across_wide", "f32", across, 16}, Leaving{"two", "f16", two, 8}})
    DYNAMIC_SECTION(each.name) {
      const auto planned = plan({each.name, product(each.type + "[m, n]"), {each.labels}, {}}, machine);
      const auto folder = emulate::build("stores_" + each.name, planned.diagram, emitted(planned));
      for (const bool aligned : {true, false}) {
        const auto ran = emulate::harness(folder, aligned ? "m=200 n=104 k=72" : "m=200 n=101 k=72");
        INFO(ran.output);
        CHECK(ran.status == 0);
        auto counted = emulate::counts(ran.output);
        CHECK(counted["warpgroup_operations"] > 0);
        CHECK(counted["boxes_left"] == (aligned ? each.boxes : 0));
        CHECK(counted["store_conflicts"] == 0);
      }
    }
}

TEST_CASE("the emulation finds mistakes planted in outputs that leave", "[emulated][warpgroups][stores]") {
  SECTION("none") { CHECK(says(planted("none", "napkin_store_end();", "napkin_store_end();"), "good")); }
  SECTION("numbers that copies do not know of") {
    CHECK(says(planted("fence", "napkin_store_ready();", "napkin_store_wait();"), "do not know of"));
  }
  SECTION("a tile written while boxes of it are on their way") {
    CHECK(says(planted("wait", "napkin_store_wait();", ""), "race: write to shared memory"));
  }
  SECTION("boxes that nobody waits for") {
    CHECK(says(planted("end", "napkin_store_end();", ""), "ended with boxes on their way"));
  }
  SECTION("boxes that are no group") {
    CHECK(says(planted("commit", "napkin_store_commit();", ""), "emulation: race"));
  }
  SECTION("a wrong swizzle") {
    const std::string place = "napkin_store_x4(O_leaves + napkin_panel_place<128, 64, 2, ";
    CHECK_FALSE(says(planted("swizzle", place + "3>", place + "2>"), "good"));
  }
  SECTION("the rows of another warpgroup") {
    CHECK(says(planted("rows", "O_leaves + warp / 4 * 4096", "O_leaves + (1 - warp / 4) * 4096"), "emulation: "));
  }
}
