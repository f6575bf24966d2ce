// Predicted against counted, for equality: random diagrams, random legal partitions, machines of two and three levels.
#include <algorithm>
#include <random>
#include <set>

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
    if (i > 0) level.sector = Sourced<double>{16, Origin::assumed, {}, ""};
    hardware.levels.push_back(level);
  }
  return hardware;
}

}  // namespace

// Pieces of several groups, a step of a stream inside each, leave together and may meet by chance.
bool streams_within_groups(const Partition& partition) {
  return std::ranges::any_of(partition.splits, [&](const Split& stream) {
    return stream.kind == SplitKind::stream && std::ranges::any_of(partition.splits, [&](const Split& group) {
             return group.kind == SplitKind::group && group.wire == stream.wire && group.level > 1;
           });
  });
}

// Every index is a wire of its own and nothing is passed over, so that the places of what lies together are known.
bool has_plain_rows(const Kernel& kernel, const KernelCost& cost) {
  if (streams_within_groups(kernel.partition)) return false;
  const auto plain = [](const Expr& expr) {
    const auto* access = std::get_if<Access>(&expr.node);
    if (!access) return true;
    std::set<WireId> wires;
    return std::ranges::all_of(access->at, [&](const Index& index) {
      return index.terms.size() == 1 && index.terms[0].second == 1 && index.divisor == 1 && index.offset == 0 &&
             wires.insert(index.terms[0].first).second;
    });
  };
  return cost.masks.empty() && std::ranges::all_of(kernel.program.scratch.exprs, plain);
}

TEST_CASE("what is predicted is what is counted") {
  std::uint32_t checked = 0, narrow = 0;
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
        REQUIRE(*level.sector_bytes >= level.transfer_bytes);
        const auto sectors = counted.sector_bytes.at(level.level - 1);
        if (!has_plain_rows(kernel, cost)) continue;
        REQUIRE(*level.sector_bytes == sectors);
        narrow += sectors > level.transfer_bytes;
      }
      double predicted = 0, total = 0;
      for (const auto& unit : cost.units) predicted += unit.operations;
      for (const auto operations : counted.operations) total += operations;
      REQUIRE(predicted == total);
    }
  }
  CHECK(checked > law_diagrams());
  CHECK(narrow > checked / 10);
}
