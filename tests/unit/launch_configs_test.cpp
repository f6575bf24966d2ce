// Rows of a block in whole instructions of its warpgroups, and what is no work of matrix units.
#include <algorithm>

#include "napkin/configure.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

Configuration configured(const std::string& example, const std::string& words, const Hardware& hardware) {
  const auto kernel = testing::planned(read_example(example + ".nap"), words, hardware);
  auto made = configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine);
  REQUIRE(made);
  return *made;
}
std::int64_t registers(const Configuration& made) { return made.pipelinings[0].occupancy.registers_per_thread; }

double clocks_of_column(const Configuration& made, const std::string& column, Resource on) {
  for (const auto& one : made.clocks)
    if (one.column == column && one.on == on) return one.clocks;
  return 0;
}

}  // namespace

TEST_CASE("instructions of four warps take four, and hold all of their rows", "[configure]") {
  const auto hopper = read_machine("h100-sxm5"), ampere = read_machine("a100-sxm4-80");
  const auto of = [](const Hardware& hardware, const std::string& rows, const std::string& columns) {
    return configured("matmul", "group a " + rows + ", c " + columns + ", stream b 64 at smem", hardware);
  };
  CHECK(of(hopper, "64", "32").warpgroup_warps == 4);
  CHECK(of(hopper, "42", "32").warpgroup_warps == 4);
  // Single warps take what would leave half of their rows empty.
  CHECK(of(hopper, "33", "32").warpgroup_warps == 4);
  CHECK(of(hopper, "32", "32").warpgroup_warps < 4);
  CHECK(registers(of(hopper, "42", "32")) == registers(of(hopper, "64", "32")));
  // By single warps, three of 16 rows for 42.
  CHECK(of(ampere, "42", "32").warpgroup_warps == 3);
  const auto three = configured("matmul", "group a 48, c 32, stream b 64 at smem; group a 16 at reg", ampere);
  CHECK(registers(of(ampere, "42", "32")) == registers(three));
}

TEST_CASE("where tiles of the block alone do not fit, no warpgroup does", "[configure]") {
  const auto made = configured("attention", "group q 64, stream x 512 at smem", read_machine("v100-sxm2"));
  for (const auto& one : made.pipelinings) {
    CHECK(one.occupancy.warpgroups_by_shared == 0);
    CHECK(one.occupancy.warpgroups == 0);
  }
}

TEST_CASE("sums of two vectors each are no product of matrices", "[configure]") {
  // Squares along a row, and a product of the same rows with columns that all share.
  const auto made =
      configured("rmsnorm_projection", "group t 128, o 128, stream c 64 at smem", read_machine("h100-sxm5"));
  CHECK(clocks_of_column(made, "l", Resource::tensor) == 0);
  // A multiply-add of each of 128 x 64 values on 128 lanes.
  CHECK(clocks_of_column(made, "l", Resource::fma) == Approx(64));
  CHECK(clocks_of_column(made, "Y_sum", Resource::tensor) > 0);
}

TEST_CASE("what several steps take by parts is held by all of its rows", "[configure]") {
  // Sums of 256 rows stay while the step goes over them in two halves.
  const auto hardware = read_machine("h100-sxm5");
  const auto whole = configured("matmul", "group a 256, c 128, stream b 64 at smem", hardware);
  const auto halves = configured("matmul", "group a 256, c 128, stream b 64, a 128 at smem", hardware);
  const auto sums = [](const Configuration& made) {
    std::int64_t bytes = 0;
    for (const auto& variable : made.columns.back().variables)
      if (variable.name == "C_sum") bytes += variable.bytes * made.warpgroups;
    return bytes;
  };
  CHECK(sums(whole) == 256 * 128 * 4);
  CHECK(sums(halves) == 256 * 128 * 4);
}
