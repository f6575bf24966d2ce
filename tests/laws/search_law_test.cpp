// The search against its slow twin, which looks at every partition of the same space: random diagrams, machines that
// are small enough for something not to fit.
#include "napkin/search.hpp"
#include "search/space.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/random_diagram.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

std::string partition_text(const Candidate& candidate, const Hardware& hardware) {
  return to_text(candidate.kernel.partition, candidate.kernel.derivation->scratch, hardware);
}

// Both, compared; whether something fits. `checked` counts.
void compare(const Diagram& diagram, const Hardware& hardware, const Goal& goal, std::int64_t most, int& checked,
             int& fitting) {
  const auto derivation = derived(diagram);
  if (count_partitions(make_space(derivation, hardware, goal.fixed)) > most) return;
  const auto fast = search(derivation, hardware, goal);
  const auto slow = search_exhaustively(derivation, hardware, goal);
  ++checked;
  fitting += !slow.best.empty();
  REQUIRE(fast.optimal);
  REQUIRE(fast.best.size() == slow.best.size());
  REQUIRE(fast.candidates == slow.candidates);
  for (std::size_t i = 0; i < fast.best.size(); ++i) {
    CHECK(partition_text(fast.best[i], hardware) == partition_text(slow.best[i], hardware));
    CHECK(fast.best[i].cost.time_s == slow.best[i].cost.time_s);
    CHECK(fast.best[i].cost.overruns.empty());
  }
  REQUIRE(fast.nearest.has_value() == slow.nearest.has_value());
  if (fast.nearest) CHECK(partition_text(*fast.nearest, hardware) == partition_text(*slow.nearest, hardware));
}

}  // namespace

TEST_CASE("search finds what looking everywhere finds") {
  const std::vector<Hardware> machines = {
      read_machine("two-level", {{"M", "12"}}),
      read_machine("two-level", {{"M", "40"}}),
      read_machine("toy", {{"levels.smem.capacity", "96 B"}, {"levels.reg.usable", "64 B"}}),
      read_machine("toy", {{"levels.smem.capacity", "256 B"}, {"levels.reg.usable", "160 B"}}),
  };
  const std::vector<Goal> goals = {
      {.objective = Objective::time, .model = Model::machine, .top = 1, .fixed = {}},
      {.objective = Objective::time, .model = Model::ideal, .top = 1, .fixed = {}},
      {.objective = Objective::transfers, .model = Model::machine, .top = 3, .fixed = {}},
      {.objective = Objective::energy, .model = Model::machine, .top = 1, .fixed = {}},
  };
  int checked = 0, fitting = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const auto diagram = random_diagram(seed);
    const auto& hardware = machines[seed % machines.size()];
    const auto& goal = goals[seed / machines.size() % goals.size()];
    INFO("seed " << seed);
    compare(diagram, hardware, goal, 3000, checked, fitting);
  }
  CHECK(checked > 30);
  CHECK(fitting > 10);
  CHECK(fitting < checked);
}
