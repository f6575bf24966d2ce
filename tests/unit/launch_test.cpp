// What blocks of a launch cannot hide: their beginnings, their ragged pieces, and each other's steps within a block;
// and what bounds it.
#include <algorithm>

#include "napkin/configure.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

Configuration configured(const Kernel& kernel, const Hardware& hardware) {
  auto made = configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine);
  REQUIRE(made);
  REQUIRE(made->launch);
  return *made;
}
Configuration configured(const std::string& words, const Hardware& hardware, std::int64_t queries = 65536) {
  Overrides sizes;
  sizes.sizes = {{"q", queries}};
  return configured(testing::planned(read_example("attention.nap", sizes), words, hardware), hardware);
}
double lost(const Configuration& made, const std::string& beginning) {
  for (const auto& loss : made.launch->losses)
    if (loss.what.starts_with(beginning)) return loss.seconds;
  return -1;
}
const Pipelining& find(const Configuration& made, Overlap overlap) {
  return *std::ranges::find(made.pipelinings, overlap, &Pipelining::overlap);
}

}  // namespace

TEST_CASE("a block that begins anew loses as much as a block of its own", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto of_heads = [&](const char* words) {
    Overrides sizes;
    sizes.sizes = {{"q", 132 * 128}, {"b", 1}, {"h", 8}};
    return configured(testing::planned(read_example("multi_head.nap", sizes), words, hardware), hardware);
  };
  const auto once = configured("group q 128, stream x 128 at smem", hardware, 132 * 128);
  const auto anew = of_heads("group q 128, stream h 1, x 128 at smem");
  CHECK(once.launch->blocks == anew.launch->blocks);
  CHECK(lost(once, "prologue") > 0);
  CHECK(lost(anew, "prologue") == Approx(8 * lost(once, "prologue")));
}

TEST_CASE("ragged pieces take as long as whole ones", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  // 4096 keys are 42 pieces of 96 and a part; 65536 queries 341 of 192 and a part.
  const auto keys = configured("group q 128, stream x 96 at smem", hardware);
  CHECK(keys.launch->steps == Approx(512.0 * 43));
  const auto rows = configured("group q 192, stream x 64 at smem", hardware);
  CHECK(rows.launch->steps == Approx(342.0 * 64));
}

TEST_CASE("warpgroups of one block that take no turns do the same at the same time", "[configure]") {
  // As two blocks of four warps, and as one of eight.
  const auto hardware = read_machine("a100-sxm4-80", {{"limits.registers_for_addresses", "20"}});
  const auto blocks = configured("group q 128, stream x 64 at smem; group q 32 at reg", hardware);
  const auto block = configured("group q 128, stream x 128 at smem; group q 16 at reg", hardware);
  REQUIRE(block.warpgroups == 2);
  REQUIRE(find(block, Overlap::multistage).occupancy.blocks == 1);
  CHECK(find(blocks, Overlap::co_resident).runs);
  CHECK_FALSE(find(block, Overlap::co_resident).runs);
  CHECK(block.launch->time_s > 1.03 * blocks.launch->time_s);
}

TEST_CASE("what warpgroups wait for is a line of its own", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto waits = configured("group q 128, stream x 128 at smem", hardware);
  REQUIRE(waits.pipelinings[waits.chosen].overlap == Overlap::ping_pong_of_two);
  // At every step the matrix units pass on twice, for 128 clocks at the lowered clock each.
  const double step = 2 * 128 / 1.83e9 / (0.80 / 0.96);
  CHECK(lost(waits, "waiting for results") == Approx(waits.launch->steps / 132 * step).epsilon(0.02));
}

TEST_CASE("what bounds a kernel says where its transfers come from", "[configure]") {
  const auto bound = [](const std::string& example, const char* machine) {
    const auto cost =
        search(testing::derived(read_example(example + ".nap")), read_machine(machine), {}).best.at(0).cost;
    return cost.bound_by + " from " + cost.bound_from;
  };
  CHECK(bound("attention", "h100-sxm5") == "smem from l2");  // keys and values, which all blocks read
  CHECK(bound("softmax", "h100-sxm5") == "smem from gmem");
  CHECK(bound("matmul", "a100-sxm4-80") == "tensor from ");
}
