// What memories hold while groups wait for each other, what the ideal model counts, and the outermost room.
#include <algorithm>

#include "napkin/configure.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

const std::string product_of_512 =
    "diagram matmul\naxis a = 512; axis b = 512; axis c = 512\ninput A: f32[a, b]; input B: f32[b, c]\n"
    "C[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n";

const std::string two_cores =
    "name: two-cores\ndescription: two cores of 4 KiB\nlevels:\n  top:\n    unit: machine\n"
    "  mid:\n    unit: chip\n    count: 1 assumed X\n    capacity: 1 MiB assumed X\n"
    "  low:\n    unit: core\n    count: 2 assumed X\n    capacity: 4 KiB assumed X\nsources:\n  X: made up\n";

}  // namespace

// Every group below a stream keeps its accumulator from piece to piece.
TEST_CASE("groups below a stream hold what they carry along it, all at once", "[residents]") {
  const auto diagram = read_text(product_of_512);
  const auto hardware = load_text(two_cores).hardware;
  const auto kernel = testing::planned(diagram, "stream b 1 at mid; group a 32, c 30 at low", hardware);
  const auto cost = estimate(kernel, hardware, Model::machine);
  // 16 by 18 groups, 144 to each core, one of which is at work with its pieces of A and B.
  CHECK(cost.levels[1].memory_bytes == 144 * 32 * 30 * 4 + (32 + 30) * 4);
  REQUIRE_FALSE(cost.overruns.empty());
  CHECK(cost.overruns.back().level == 2);
  CHECK(cost.overruns.back().what == "memory of all groups");
  CHECK(cost.overruns.back().array == "C");
  Goal goal;
  goal.objective = Objective::transfers;
  const auto found = search(testing::derived(diagram), hardware, goal);
  REQUIRE_FALSE(found.best.empty());
  CHECK(found.optimal);
  CHECK(found.best.front().cost.levels[1].memory_bytes <= 4096);
}

TEST_CASE("accumulators within a piece of the L2 fit into the registers there are", "[residents][levels][long]") {
  const auto hardware = read_machine("a100-sxm4-80-l2");
  const auto found = search(testing::derived(read_example("matmul.nap")), hardware, {});
  REQUIRE_FALSE(found.best.empty());
  const auto& registers = found.best.front().cost.levels[2];
  const auto kept = std::ranges::find(registers.held, "C_sum", &HeldArray::array);
  REQUIRE(kept != registers.held.end());
  CHECK(kept->bytes * registers.groups_per_parent <= 256 * 1024);
}

// What a body holds is there while a loop inside the body goes on, also where the body ends with that loop.
TEST_CASE("groups that wait in the last loop of a body hold what is there in all of the body", "[residents]") {
  const auto hardware = load_text(two_cores).hardware;
  const auto held = [&](const std::string& text, const std::string& partition) {
    const auto kernel = testing::planned(read_text(text), partition, hardware);
    const auto bytes = estimate(kernel, hardware, Model::machine).levels[1].memory_bytes;
    CHECK(bytes == count(kernel, hardware).levels[1].memory_bytes);
    return bytes;
  };
  // Four groups to each core: one has A, S, B and O of its piece, three keep A, a tile of the body of h, and S.
  CHECK(held("diagram d\naxis q = 8; axis d = 4; axis h = 6; axis e = 6\ninput A: f32[q, h, d]; input B: f32[h, e]\n"
             "S[q, h] = sum[d](A[q, h, d])\nO[q, h, e] = exp(S[q, h]) * B[h, e]\noutput O\n",
             "stream h 1, e 2 at mid; group q 1 at low") == (4 + 1 + 2 + 2) * 4 + 3 * (4 + 1) * 4);
  // Two groups to each core: A, which the loop over c uses from outside, C and two values of E; one of them with a D.
  CHECK(held("diagram d\naxis a = 4; axis c = 2; axis d = 2\ninput A: f32[a]; input D: f32[c, d]\n"
             "C[a, c] = A[a]\nE[a, d] = sum[c](C[a, c] * D[c, d])\noutput E\n",
             "stream c 1, d 1 at mid; group a 1 at low") == 2 * (1 + 1 + 2) * 4 + 4);
}

TEST_CASE("what outlives a stream is held in the ideal model too", "[residents]") {
  const auto diagram = read_example("attention.nap", {{{"q", 4096}, {"x", 4096}}, {}});
  const auto hardware = read_machine("two-level", {{"M", "98304"}});
  const auto scores = estimate(testing::planned(diagram, "stream d 1, d' 1 at low", hardware), hardware, Model::ideal);
  CHECK_FALSE(scores.overruns.empty());
  CHECK(scores.levels[0].ideal_memory_values >= 4096 * 4096);
  // The paper's own streams hold what it draws.
  const auto kernel = testing::planned(diagram, "group q 128, stream x 64 at low", hardware);
  CHECK(estimate(kernel, hardware, Model::ideal).levels[0].ideal_memory_values == 2 * 128 * 128 + 2 * 64 * 128);
}

TEST_CASE("all arrays have to fit into the outermost memory", "[residents]") {
  const auto diagram = read_example("softmax.nap", {{{"r", 400'000}, {"x", 400'000}}, {}});
  const auto hardware = read_machine("h100-sxm5");
  const auto cost = estimate(testing::planned(diagram, "group r 1 at smem", hardware), hardware, Model::machine);
  REQUIRE_FALSE(cost.overruns.empty());
  CHECK(cost.overruns[0].level == 0);
  const double arrays = 2.0 * 400'000 * 400'000 * row(diagram.at(diagram.inputs[0]).type).bytes;
  CHECK(cost.overruns[0].over == arrays - hardware.levels[0].room());
}

TEST_CASE("a stream of one piece stays where the streams inside it need it", "[configure]") {
  const auto diagram = read_example("attention.nap", {{{"q", 20}, {"x", 10}}, {}});
  const auto hardware = read_machine("toy", {{"smem", "1 MiB"}});
  const auto kernel = testing::planned(diagram, "stream q 7, x 10 at smem; stream q 3, x 2 at reg", hardware);
  const auto cost = estimate(kernel, hardware, Model::machine);
  CHECK_NOTHROW(configure(kernel, cost, hardware, Model::machine));
}
