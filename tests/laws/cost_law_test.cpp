// Predicted against counted, for equality: random diagrams, random legal partitions, machines of two and three levels.
#include <random>

#include "napkin/cost.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/law_diagrams.hpp"
#include "support/nap_text.hpp"
#include "support/random_diagram.hpp"
#include "support/random_partition.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

Hardware machine(int levels) {
  Hardware hardware;
  hardware.name = "law";
  for (int i = 0; i < levels; ++i) {
    Level level;
    level.name = "level" + std::to_string(i);
    hardware.levels.push_back(level);
  }
  return hardware;
}

}  // namespace

TEST_CASE("what is predicted is what is counted") {
  std::uint32_t checked = 0;
  for (std::uint32_t seed = 0; seed < law_diagrams(); ++seed) {
    const Diagram diagram = random_diagram(seed);
    const auto derivation = derived(diagram);
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 6; ++attempt) {
      const Hardware hardware = machine(2 + static_cast<int>(random() % 2));
      const Partition partition = random_partition(*derivation, hardware.levels.size(), random);
      if (!illegal(*derivation, hardware, partition).empty()) continue;
      const Kernel kernel = make_kernel(derivation, partition);
      const auto cost = estimate(kernel, hardware, Model::machine);
      const auto counted = count(kernel, hardware);
      ++checked;
      INFO("seed " << seed << "\n"
                   << nap_text(diagram, partition, hardware) << to_text(lower(kernel, hardware), hardware));
      for (const auto& level : cost.levels) {
        const auto& at = counted.levels.at(level.level - 1);
        CAPTURE(level.level);
        REQUIRE(level.transfer_values == at.transfer_values);
        REQUIRE(level.transfer_bytes == at.transfer_bytes);
        REQUIRE(level.memory_values == at.memory_values);
        REQUIRE(level.memory_bytes == at.memory_bytes);
      }
      double predicted = 0, total = 0;
      for (const auto& unit : cost.units) predicted += unit.operations;
      for (const auto operations : counted.operations) total += operations;
      REQUIRE(predicted == total);
    }
  }
  CHECK(checked > law_diagrams());
}
