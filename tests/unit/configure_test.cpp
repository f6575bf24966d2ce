// From partition to configuration: occupancy against what cuda_occupancy.h says, the counts of a step by hand.
#include "napkin/configure.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "support/catch.hpp"
#include "support/configured.hpp"
#include "support/machine.hpp"
#include "timing/launch.hpp"
#include "timing/occupancy.hpp"
#include "timing/pipelining.hpp"

using namespace napkin;
using namespace napkin::testing;

TEST_CASE("warps of a core follow from the registers of a thread", "[configure]") {
  // As cuda_occupancy.h of CUDA 13.0 answers: the most registers for each number of warps.
  const std::vector<std::pair<std::int64_t, std::int64_t>> large = {
      {32, 64}, {40, 48}, {48, 40}, {56, 36}, {64, 32}, {72, 28}, {80, 24}, {96, 20}, {128, 16}, {168, 12}, {255, 8}};
  auto small = large;
  small.erase(small.begin());
  for (const auto* name : {"v100-sxm2", "a100-sxm4-40", "h100-sxm5", "b200-sxm"}) {
    CAPTURE(name);
    CHECK(register_ladder(read_machine(name)) == large);
  }
  for (const auto* name : {"rtx3090", "rtx4090"}) {
    CAPTURE(name);
    CHECK(register_ladder(read_machine(name)) == small);
  }
}

TEST_CASE("blocks of a core follow from all that they need", "[configure]") {
  struct Case {
    const char* machine;
    BlockNeeds needs;
    std::int64_t blocks;
  };
  // As cuda_occupancy.h of CUDA 13.0 answers.
  const Case cases[] = {
      {"a100-sxm4-40", {4, 255, 64 << 10}, 2}, {"h100-sxm5", {4, 255, 64 << 10}, 2},
      {"rtx4090", {4, 255, 64 << 10}, 1},      {"rtx3090", {4, 255, 48 << 10}, 2},
      {"h100-sxm5", {12, 168, 208 << 10}, 1},  {"a100-sxm4-40", {5, 128, 0}, 3},
      {"a100-sxm4-40", {5, 160, 0}, 2},        {"h100-sxm5", {9, 168, 0}, 1},
      {"h100-sxm5", {9, 200, 0}, 0},           {"h100-sxm5", {13, 128, 0}, 1},
      {"h100-sxm5", {13, 129, 0}, 0},          {"h100-sxm5", {1, 157, 0}, 12},
      {"h100-sxm5", {4, 32, 113 << 10}, 2},    {"h100-sxm5", {4, 32, 114 << 10}, 1},
  };
  for (const auto& [machine, needs, blocks] : cases) {
    CAPTURE(machine, needs.warps, needs.registers_per_thread, needs.shared_bytes);
    CHECK(residents(needs, read_machine(machine)).blocks == blocks);
  }
}

TEST_CASE("transfers stand beside operations for every kernel that runs, of one warpgroup or of several",
          "[configure]") {
  const auto hardware = read_machine("a100-sxm4-80");
  std::set<std::int64_t> warpgroups;
  for (const auto* words : {"group a 64, c 64, stream b 64 at smem", "group a 128, c 128, stream b 32 at smem",
                            "group a 128, c 128, stream b 256 at smem"}) {
    const auto made = configured(kernel_of_example("matmul", words, hardware), hardware, Model::machine);
    warpgroups.insert(made.pipelinings[made.chosen].occupancy.warpgroups);
    CHECK(made.bandwidth);
  }
  CHECK(*warpgroups.begin() == 1);
  CHECK(warpgroups.size() > 1);
}

TEST_CASE("the paper's configuration of attention on Hopper", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  Overrides types;
  types.types = {{"Q", Datatype::f8e4m3}, {"K", Datatype::f8e4m3}};
  const auto kernel =
      kernel_of_example("attention", "group q 384, stream x 64 at smem; group q 32 at reg", hardware, types);
  const auto made = configured(kernel, hardware, Model::ideal);
  CHECK(made.warpgroups == 3);
  CHECK(made.warpgroup_rows == 128);
  CHECK(made.shared_block_bytes == 48 << 10);
  CHECK(made.shared_warpgroup_bytes == 48 << 10);
  const auto& within = find(made, Overlap::intra_warpgroup);
  CHECK(within.warpgroup_register_bytes == 598 * 128);
  CHECK(within.occupancy.warpgroups == 3);
  // O 128, S 64, P 64 of the step before, a step of Q of 32, of O of 8, and three scalars; two bytes each.
  CHECK(find(made, Overlap::multistage).warpgroup_register_bytes == (598 - 2 * 64) * 128);
  CHECK(made.bound == Resource::tensor);
  CHECK(clocks_of_column(made, "S_sum", Resource::tensor) == 2 * 384);
  CHECK(clocks_of_column(made, "O_sum", Resource::tensor) == 4 * 384);
  CHECK(clocks_of_column(made, "O_sum", Resource::fma) == 384 / 2);
  CHECK(clocks_of_column(made, "p", Resource::sfu) == 4 * 384);
  CHECK(clocks_of_column(made, "r", Resource::sfu) == 384 / 16);
  REQUIRE(made.bandwidth);
  CHECK(made.bandwidth->rows == 384);
  CHECK(*made.bandwidth->least_rows == Approx(295.2).epsilon(1e-3));
}

TEST_CASE("numbers keep their own width on a chip", "[configure]") {
  const auto hardware = read_machine("a100-sxm4-40", {{"limits.registers_for_addresses", "20"}});
  Overrides many;  // blocks, so that a core has several at once
  many.sizes = {{"q", 65536}};
  const auto made = configured(kernel_of_example("attention", flash + "; group q 32 at reg", hardware, many), hardware,
                               Model::machine);
  // Of 128 rows: O 128 and S 64 in f32, three scalars, and a step of 16 of Q in f16.
  CHECK(find(made, Overlap::multistage).warpgroup_register_bytes == 128 * (4 * (128 + 64 + 3) + 2 * 16));
  CHECK(find(made, Overlap::intra_warpgroup).warpgroup_register_bytes == 128 * (4 * (128 + 64 + 3) + 2 * 16 + 2 * 64));
  // Q, and two of K and V; O goes where Q was.
  CHECK(find(made, Overlap::co_resident).shared_bytes == (32 + 2 * 16) << 10);
  CHECK(find(made, Overlap::multistage).shared_bytes == (32 + 4 * 16) << 10);
}

TEST_CASE("contractions read the core's memory once for every instruction's rows", "[configure]") {
  // Clocks of 128 bytes. tcgen05 takes 128 rows at once, wgmma 64, mma.sync those of a warp.
  const auto read = [](const char* machine, const std::string& words) {
    const auto hardware = read_machine(machine);
    const auto made = configured(kernel_of_example("attention", words, hardware), hardware, Model::ideal);
    return clocks_of_column(made, "S_sum", Resource::shared) + clocks_of_column(made, "O_sum", Resource::shared);
  };
  CHECK(read("b200-sxm", "group q 128, stream x 128 at smem") == Approx(768).epsilon(1e-3));
  CHECK(read("h100-sxm5", "group q 128, stream x 128 at smem") == Approx(1280).epsilon(1e-3));
  CHECK(read("h100-sxm5", "group q 128, stream x 176 at smem; group q 16 at reg") == Approx(1664).epsilon(1e-3));
  CHECK(read("a100-sxm4-40", flash + "; group q 32 at reg") == Approx(1024 + 256).epsilon(1e-3));
}

TEST_CASE("a step is of the loop with the contractions, wherever loops around it begin and end sums", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto made = configured(kernel_of_example("matmul", "group a 128, stream b 64, c 32 at smem", hardware),
                               hardware, Model::ideal);
  CHECK(clocks_of_column(made, "C_sum", Resource::tensor) == 2.0 * 128 * 64 * 32 / 4096);
  CHECK(made.row_axis == "a");
}

TEST_CASE("what stands in no profile can be set", "[configure]") {
  const auto told = [](const char* path, const char* value) {
    const auto hardware = read_machine("a100-sxm4-80", {{"limits.registers_for_addresses", "20"}, {path, value}});
    Overrides many;
    many.sizes = {{"q", 65536}, {"x", 65536}};
    return configured(kernel_of_example("causal", flash + "; group q 32 at reg", hardware, many), hardware,
                      Model::machine);
  };
  const auto plain = told("limits.unhidden", "0.4");
  CHECK(told("limits.unhidden", "0.2").launch->time_s < plain.launch->time_s);
  CHECK(told("limits.unhidden", "0").launch->time_s < told("limits.unhidden", "0.2").launch->time_s);
  CHECK(told("limits.masked_end", "1").launch->time_s > plain.launch->time_s);
  const auto registers = [](const Configuration& made) { return made.pipelinings[0].occupancy.registers_per_thread; };
  CHECK(registers(told("limits.registers_for_addresses", "30")) == registers(plain) + 10);
}

TEST_CASE("a contraction that folds the rows exchanges its operand in the core's memory", "[configure]") {
  // The gradient of queries folds keys, which all other contractions carry from one operand.
  const auto hardware = read_machine("a100-sxm4-80");
  auto diagram = read_text(R"(diagram gradient
axis q = 4096
axis x = 128
axis d = 128
input Q: f16[q, d]
input K: f16[x, d]
S: f16[q, x] = sum[d](Q[q, d] * K[x, d])
A: f32[q, d] = sum[x](S[q, x] * K[x, d])
B: f32[x, d] = sum[q](S[q, x] * Q[q, d])
output A
output B
)");
  const auto made = configured(testing::planned(diagram, "stream q 64 at smem", hardware), hardware, Model::ideal);
  CHECK(made.row_axis == "x");
  // Of 16 rows a warp: Q for each, and K. The piece of S goes out and comes back; K is read for each 16 of 64 queries.
  CHECK(clocks_of_column(made, "S_sum", Resource::shared) == Approx((8 * 16 + 32) * 1024 / 128.0).epsilon(1e-3));
  CHECK(clocks_of_column(made, "A", Resource::shared) == Approx((4 * 32 + 2 * 16) * 1024 / 128.0).epsilon(1e-3));
  CHECK(clocks_of_column(made, "B", Resource::shared) == Approx(8 * 16 * 1024 / 128.0).epsilon(1e-3));
}

TEST_CASE("operations outside the mainloop take their part of the core", "[configure]") {
  // Streaming the width of Q and K leaves softmax and the product with V in the body around the step, which other
  // blocks hide only as far as matrix units and lanes are free.
  const auto hardware = read_machine("a100-sxm4-80");
  Overrides many;
  many.sizes = {{"q", 65536}};
  const auto whole = configured(kernel_of_example("attention", "group q 64, stream x 48 at smem", hardware, many),
                                hardware, Model::machine);
  const auto narrow =
      configured(kernel_of_example("attention", "group q 64, stream x 48, d 16 at smem", hardware, many), hardware,
                 Model::machine);
  const auto& losses = narrow.launch->losses;
  const auto outside = std::ranges::find(losses, std::string_view("operations outside the mainloop"), &Loss::what);
  REQUIRE(outside != losses.end());
  // They wait for each other as the whole does without copies ahead, less what the mainloop has of it.
  const double all = find(whole, Overlap::none).step_s * whole.launch->steps / static_cast<double>(whole.launch->cores);
  CHECK(outside->seconds > 0);
  CHECK(outside->seconds < all);
  CHECK(narrow.launch->time_s > whole.launch->time_s);
  // A thread of the four for every two rows holds its scores, of 256 x 96 in f32, and the carried O, of 256 x 128.
  const auto large =
      configured(kernel_of_example("attention", "group q 256, stream x 96, d 16 at smem", hardware, many), hardware,
                 Model::machine);
  CHECK(find(large, Overlap::none).occupancy.registers_per_thread > 48 + 64 + 20);
}

TEST_CASE("divisors are the least common multiple of their reasons", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto made = configured(kernel_of_example("attention", flash, hardware), hardware, Model::machine);
  const auto of = [&](const char* axis) { return std::ranges::find(made.divisors, axis, &Divisor::axis)->size; };
  CHECK(of("x") == 16);
  CHECK(of("q") == 64);
  for (const auto& divisor : made.divisors) {
    std::int64_t all = 1;
    for (const auto& reason : divisor.reasons) all = std::lcm(all, reason.first);
    CHECK(divisor.size == all);
    CHECK_FALSE(divisor.reasons.empty());
  }
}

TEST_CASE("lanes compare where a mask cuts a piece", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto lanes = [&](const char* example, std::int64_t positions) {
    Overrides sizes;
    sizes.sizes = {{"q", positions}, {"x", positions}};
    const auto kernel = kernel_of_example(example, "group q 128, stream x 128 at smem", hardware, sizes);
    const auto made = configured(kernel, hardware, Model::machine);
    double seconds = 0;
    for (const auto& one : made.clocks) seconds += one.on == Resource::fma ? one.seconds : 0;
    return seconds;
  };
  // One by one: of q / 128 blocks each has one piece on the diagonal and those before it.
  const auto& lane = hardware.find(Unit::fma)->rates.at(Datatype::f32);
  const double tensor = hardware.find(Unit::tensor)->rates.at(Datatype::f16).reached() /
                        hardware.find(Unit::tensor)->rates.at(Datatype::f16).peak();
  const double open = lanes("causal", 1 << 20);
  for (const std::int64_t blocks : {1, 2, 4, 32}) {
    CAPTURE(blocks);
    const double cut = 2.0 / static_cast<double>(blocks + 1);
    const double extra = lanes("causal", blocks * 128) - open;
    // A comparison of each value, which takes the place of a multiply-add, or few of them.
    const double each = 2 * 128 * 128 * 132 / lane.reached() / tensor * cut;
    CHECK(extra / each > 0.9);
    CHECK(extra / each < 4);
    CHECK(extra / cut == Approx((lanes("causal", 128) - open)).epsilon(0.02));
  }
  CHECK(lanes("attention", 512) == Approx(lanes("attention", 4096)));
}

TEST_CASE("nothing to configure without matrix units", "[configure]") {
  const auto hardware = read_machine("x86-64-avx2");
  const auto kernel = kernel_of_example("attention", "", hardware);
  CHECK_FALSE(configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine));
  const auto gpu = read_machine("h100-sxm5");
  const auto softmax = kernel_of_example("softmax", "group r 1 at smem", gpu);
  CHECK_FALSE(configure(softmax, estimate(softmax, gpu, Model::machine), gpu, Model::machine));
}
