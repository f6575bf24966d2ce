// How blocks come to the pieces of the grid: blocks that stay for several, in the order that the model finds best, and
// clusters of blocks that copy what all of them need together, emulated on a machine of two cores against the plain
// meaning; what they move against the model; and mistakes planted by hand.
#include <fmt/format.h>

#include "cuda/emulate.hpp"
#include "napkin/device.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace kernel_cases;

namespace {

constexpr const char* machine = "h100-sxm5";
constexpr const char* by_warpgroups = "group m 128, n 64, stream k 64 at smem; group m 16 at reg";

std::string product(std::int64_t size) {
  return fmt::format(R"(diagram product
axis m = {0}; axis n = {0}; axis k = 512
input A: f16[m, k]; input B: f16[k, n]; input R: f16[m, n]
C: f16[m, n] = sum[k](A[m, k] * B[k, n]) + R[m, n]
output C
)",
                     size);
}
const Case attention{"grid_attention",
                     case_named("attention").text,
                     {"group q 64, stream x 64 at smem; group q 16 at reg"},
                     {"q=64 x=64 d=64", "q=320 x=136 d=64", "q=300 x=200 d=104"}};
// The third array is read last: the next piece's tiles of the loop come before it.
const Case residual{
    "grid_residual", product(512), {by_warpgroups}, {"m=128 n=64 k=64", "m=256 n=192 k=128", "m=300 n=200 k=152"}};
const Case order{
    "grid_order", product(4096), {by_warpgroups}, {"m=1024 n=64 k=64", "m=1280 n=128 k=64", "m=1320 n=200 k=72"}};

// An H100, and one whose cache is slow beside what neighbouring blocks give each other.
Hardware alone() { return read_machine(machine); }
Hardware in_clusters(const std::string& of_two, const std::string& of_four) {
  return read_machine(machine, {{"caches.l2.bandwidth", "1.5 TB/s"},
                                {"siblings.smem.bandwidth.2", of_two},
                                {"siblings.smem.bandwidth.4", of_four}});
}
Hardware in_pairs() { return in_clusters("4.28 TB/s", "1 TB/s"); }

Planned planned_on(const Case& each, const Hardware& hardware) {
  auto planned = plan(each, machine);
  planned.hardware = hardware;
  return planned;
}
std::vector<EmittedFile> emitted(const Planned& planned) {
  return emit_cuda(planned.diagram, planned.plan, planned.hardware, CudaPath::tensor).files;
}
WarpNest on_warpgroups(const Kernel& kernel, const Hardware& hardware = alone()) {
  return std::get<WarpNest>(distribute_warpgroups(kernel, hardware));
}
WarpNest on_warpgroups(const std::string& text, const std::string& labels, const Hardware& hardware = alone()) {
  return on_warpgroups(plan({"", text, {labels}, {}}, machine).plan.kernels.front(), hardware);
}
// Of a cluster, what its blocks share moves as if one block had all their pieces.
Partition of_cluster(const WarpNest& warps) {
  auto partition = warps.partition;
  for (auto& split : partition.splits)
    if (split.level == warps.block_level && split.wire == warps.scheduler.along) split.size *= warps.scheduler.cluster;
  return partition;
}

bool says(const std::string& output, const std::string& words) { return output.find(words) != output.npos; }

void check(const Case& each, const Hardware& hardware, std::int64_t cluster) {
  const auto planned = planned_on(each, hardware);
  const auto files = emitted(planned);
  REQUIRE(on_warpgroups(planned.plan.kernels.front(), hardware).scheduler.cluster == cluster);
  REQUIRE(says(files.front().text, cluster > 1 ? "error = start_clusters(" : "= at_once("));
  const auto modelled = [&](const Kernel& kernel) { return of_cluster(on_warpgroups(kernel, hardware)); };
  emulate::run_all(each, planned, files, modelled,
                   [](emulate::Counts& counted) { CHECK(counted["warpgroup_operations"] > 0); });
}

// What the harness says of a kernel of five pieces on two cores, with mistakes.
std::string planted(const std::string& name, const std::vector<emulate::Mistake>& mistakes,
                    const Hardware& hardware = alone()) {
  const auto planned = planned_on(attention, hardware);
  return emulate::planted(name, planned.diagram, emitted(planned), "attention_kernel_warpgroups", mistakes,
                          "q=320 x=200 d=64");
}

}  // namespace

TEST_CASE("blocks that stay compute every piece of the grid", "[emulated][warpgroups][grid]") {
  for (const auto& each : {attention, residual, order}) DYNAMIC_SECTION(each.name) {
      check(each, alone(), 1);
    }
}

TEST_CASE("pieces are taken in the order that brings least from memory", "[emulated][warpgroups][grid]") {
  const auto small = on_warpgroups(product(512), by_warpgroups).scheduler;
  CHECK(small.persistent);
  CHECK(small.by == 1);
  const auto large = on_warpgroups(product(4096), by_warpgroups).scheduler;
  REQUIRE(large.order.size() == 2);
  CHECK(large.by == 8);
  // Where the pieces of a mask differ, whoever is done first takes the next one.
  const auto masked =
      on_warpgroups(case_named("causal").text, "group q 64, stream x 64 at smem; group q 16 at reg").scheduler;
  CHECK_FALSE(masked.persistent);
}

TEST_CASE("the emulation finds mistakes planted in blocks that stay", "[emulated][warpgroups][grid]") {
  SECTION("none") { CHECK(says(planted("grid_none", {}), "good")); }
  SECTION("tiles of the next piece copied while those of this one are read") {
    const auto output = planted("grid_wait", {{"napkin_barrier_wait(Q_smem_empty, Q_smem_phase ^ 1);", ""}});
    CHECK(says(output, "emulation: "));
  }
  SECTION("tiles that are never released") {
    CHECK(says(planted("grid_release", {{"napkin_release(Q_smem_empty);", ""}}), "wait forever"));
  }
  SECTION("a phase that is not carried on to the next piece") {
    CHECK(says(planted("grid_phase", {{"Q_smem_phase ^= 1;", "", 1}}), "emulation: "));
  }
  SECTION("a ring begun anew by one side") {
    const auto output = planted("grid_ring", {{"Q_smem_phase ^= 1;", "Q_smem_phase ^= 1; x_slot = x_phase = 0;"}});
    CHECK(says(output, "emulation: "));
  }
  SECTION("a piece passed over") {
    CHECK_FALSE(says(planted("grid_pieces", {{"+= gridDim.x", "+= 2 * gridDim.x"}}), "good"));
  }
  SECTION("a piece passed over by both sides") {
    CHECK_FALSE(says(planted("grid_both", {{"+= gridDim.x", "+= gridDim.x + 1", -1}}), "good"));
  }
}

TEST_CASE("clusters copy together what all of their blocks need", "[emulated][warpgroups][grid]") {
  const auto named = [](Case each, const std::string& name) { return each.name = name, each; };
  SECTION("pairs") { check(named(attention, "cluster_attention"), in_pairs(), 2); }
  SECTION("fours") { check(named(attention, "cluster_of_four"), in_clusters("1 TB/s", "20 TB/s"), 4); }
  SECTION("one operand of a product, and pieces in runs") { check(named(order, "cluster_product"), in_pairs(), 2); }
  SECTION("heads that share keys") {
    check({"cluster_heads",
           case_named("grouped_query").text,
           {"group k 1, r 1, q 64, stream x 64 at smem; group q 16 at reg"},
           {"k=1 r=2 q=64 x=64 d=64", "k=2 r=3 q=64 x=128 d=64", "k=1 r=2 q=200 x=200 d=72"}},
          in_pairs(), 2);
  }
}

TEST_CASE("a kernel says why it has no clusters where the model would have some", "[emulated][warpgroups][grid]") {
  const Case causal{"", case_named("causal").text, {"group q 64, stream x 64 at smem; group q 16 at reg"}, {}};
  CHECK(says(emitted(planned_on(causal, in_pairs())).front().text,
             "without the clusters of the plan, because masks make some tiles take longer than others"));
}

TEST_CASE("the emulation finds mistakes planted in clusters", "[emulated][warpgroups][grid]") {
  const auto with = [](const std::string& name, const std::vector<emulate::Mistake>& mistakes) {
    return planted("cluster_" + name, mistakes, in_pairs());
  };
  SECTION("none") { CHECK(says(with("none", {}), "good")); }
  SECTION("a copy to the block itself alone") {
    CHECK(says(with("mask", {{"K_smem_full + x_slot, 3,", "K_smem_full + x_slot, 1,"}}), "wait forever"));
  }
  SECTION("a copy to a block that there is not") {
    CHECK(says(with("outside", {{"K_smem_full + x_slot, 3,", "K_smem_full + x_slot, 7,"}}), "that there is not"));
  }
  SECTION("blocks that tell only themselves that a copy is empty") {
    CHECK(says(with("release", {{"napkin_release_cluster<2>(", "napkin_release(", -1}}), "wait forever"));
  }
  SECTION("blocks that do not wait for each other's warps") {
    const auto output =
        with("remote", {{"napkin_release_cluster<2>(", "napkin_release(", -1},
                        {"napkin_barrier_begin(x_empty + i, 8)", "napkin_barrier_begin(x_empty + i, 4)"}});
    CHECK(says(output, "emulation: "));
  }
  SECTION("the other block's share") { CHECK_FALSE(says(with("share", {{"rank * 32", "(1 - rank) * 32"}}), "good")); }
  SECTION("a copy before the other block has begun its barriers") {
    CHECK(says(with("begin", {{"napkin_cluster_meet();", "__syncthreads();"}}), "a barrier that may not have begun"));
  }
  SECTION("a block that ends while others still reach into it") {
    CHECK(says(with("end", {{"napkin_cluster_meet();", "", 2}, {"napkin_cluster_meet();", "", 1}}),
               "that may have ended"));
  }
}
