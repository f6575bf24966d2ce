// Operands that registers hold throughout the steps: what that takes, and what it saves.
#include <algorithm>

#include "napkin/configure.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

Configuration configured(const std::string& example, const std::string& labels, const Hardware& hardware) {
  const auto kernel = testing::planned(read_example(example), labels, hardware);
  const auto made = configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine);
  REQUIRE(made);
  REQUIRE(made->launch);
  return *made;
}
double of_shared(const Configuration& made, const std::string& column) {
  const auto found = std::ranges::find_if(
      made.clocks, [&](const ColumnClocks& one) { return one.column == column && one.on == Resource::shared; });
  REQUIRE(found != made.clocks.end());
  return found->seconds;
}

const std::string labels = "group q 64, stream x 64 at smem; group q 16 at reg";

}  // namespace

TEST_CASE("registers keep a tile that outlives the steps where the launch is shorter so") {
  const auto made = configured("attention.nap", labels, read_machine("a100-sxm4-80"));
  REQUIRE(made.kept);
  CHECK(made.kept->tiles == std::vector<std::string>{"Q"});
  // 16 rows of 128 numbers of f16 in the lanes of a warp.
  const auto without =
      configured("attention.nap", labels, read_machine("a100-sxm4-80", {{"limits.registers_per_thread", "180"}}));
  CHECK(made.kept->registers_per_thread ==
        without.pipelinings[without.chosen].occupancy.registers_per_thread + 16 * 128 * 2 / (32 * 4));
  CHECK(made.kept->chosen);
  CHECK(made.kept->registers_per_thread == made.pipelinings[made.chosen].occupancy.registers_per_thread);
  CHECK(made.kept->launch_s == made.launch->time_s);
  // Of what the product reads of the core's memory in a step Q is 64 rows, and K four times 64: no more than that share
  // is saved, in every step of a core.
  const double steps = made.launch->steps / static_cast<double>(made.launch->cores);
  const double saved = without.launch->time_s - made.launch->time_s;
  CHECK(saved > 0);
  CHECK(saved <= of_shared(without, "S_sum") * 64 / (64 + 4 * 64) * std::max(steps, made.launch->waves * 64.0));
}

TEST_CASE("registers keep nothing where the core's memory is not waited for, or where nothing outlives the steps") {
  const auto slow = configured("attention.nap", labels, read_machine("rtx4090"));
  REQUIRE(slow.kept);
  CHECK_FALSE(slow.kept->chosen);
  CHECK(*slow.kept->launch_s == Approx(slow.launch->time_s));
  const auto product =
      configured("matmul.nap", "group a 128, c 128, stream b 32 at smem", read_machine("a100-sxm4-80"));
  CHECK_FALSE(product.kept);
}

TEST_CASE("registers keep nothing that they have no room for") {
  const auto wide = read_machine("a100-sxm4-80", {{"limits.registers_per_thread", "166"}});
  const auto made = configured("attention.nap", "group q 64, stream x 32 at smem; group q 16 at reg", wide);
  REQUIRE(made.kept);
  CHECK(made.kept->registers_per_thread > 166);
  CHECK_FALSE(made.kept->launch_s);
  CHECK_FALSE(made.kept->chosen);
}
