// A memory between the machine's and the cores' that holds one piece at a time: its pieces are worked on in turn.
#include "napkin/configure.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

Launch launch_of(std::int64_t rows, std::int64_t columns, const std::string& words) {
  const auto hardware = read_machine("a100-sxm4-80-l2");
  const auto diagram = read_example("matmul.nap", {{{"a", rows}, {"c", columns}}, {}});
  const auto kernel = testing::planned(diagram, words, hardware);
  const auto made = configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine);
  REQUIRE(made);
  REQUIRE(made->launch);
  return *made->launch;
}

}  // namespace

TEST_CASE("pieces that a memory holds one after another take as long as that many launches", "[levels]") {
  const std::string words = "group a 1024, c 2048 at l2; group a 128, c 256, stream b 64 at smem";
  const auto one = launch_of(1024, 2048, words), all = launch_of(4096, 4096, words);
  CHECK(one.turns == 1);
  CHECK(one.waves == 1);
  CHECK(one.last_wave_busy == Approx(64.0 / 108));
  CHECK(all.turns == 8);
  CHECK(all.waves == 8);
  CHECK(all.last_wave_busy == Approx(64.0 / 108));
  const auto launch = read_machine("a100-sxm4-80-l2").limits.launch_seconds->value;
  CHECK(all.time_s - launch == Approx(8 * (one.time_s - launch)).epsilon(1e-9));
}

TEST_CASE("pieces of a level above the cores give work to all of them", "[levels][long]") {
  const auto hardware = read_machine("a100-sxm4-80-l2");
  const auto found = search(read_example("matmul.nap"), hardware, {});
  REQUIRE(found.optimal);
  const auto& levels = found.cost.kernels.front().levels;
  const auto turns = levels[0].groups, blocks = levels[1].groups;
  CHECK(blocks >= turns * 3 * hardware.total(*hardware.core) / 4);
}

TEST_CASE("four levels of an A100 are searched to the end, or it is said what is open", "[levels][long]") {
  const auto hardware = read_machine("a100-sxm4-80-l2");
  for (const auto* name : {"matmul.nap", "attention.nap"}) {
    INFO(name);
    const auto found = search(read_example(name), hardware, {});
    CHECK(found.optimal != found.gap.has_value());
    CHECK((found.optimal ||
           std::string_view(name) == "attention.nap"));  // a division of which is not searched to the end
    CHECK(found.evaluated < 5'000'000);
  }
}
