// What every memory holds at its fullest instant, by the formula and by a walk of all groups: machines of two to four
// levels that random profiles describe, random partitions, and what a search finds there.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/law_diagrams.hpp"
#include "support/machine.hpp"
#include "support/nap_text.hpp"
#include "support/random_diagram.hpp"
#include "support/random_partition.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

// One group never has more room than one of the level above.
std::string level_text(int level, bool in_values, unsigned& room, std::mt19937& random) {
  const auto between = [&](unsigned low, unsigned high) {
    return low + static_cast<unsigned>(random() % (high - low + 1));
  };
  auto text = fmt::format("  level{}:\n    unit: piece\n", level);
  if (level == 0) return text;
  const auto unit = in_values ? "" : " B";
  room = between(room / 4, room);
  const auto usable = room, capacity = usable * between(1, 6);
  text += fmt::format("    count: {} assumed X\n    shared: {}\n", between(1, 4), random() % 3 == 0);
  text += fmt::format("    capacity: {}{} assumed X\n    usable: {}{} assumed X\n", capacity, unit, usable, unit);
  if (in_values) text += "    in_values: true\n";
  if (random() % 3 == 0) text += fmt::format("    max_groups: {} assumed X\n", between(1, 8));
  return text;
}

// Levels of any counts and rooms, with memories of their own or shared.
Hardware random_machine(std::mt19937& random) {
  const int levels = 2 + static_cast<int>(random() % 3);
  const bool in_values = random() % 4 == 0;
  std::string text = "name: law\ndescription: a random machine\nlevels:\n";
  unsigned room = 400;
  for (int level = 0; level < levels; ++level) text += level_text(level, in_values, room, random);
  text += "sources:\n  X: made up\n";
  auto loaded = load_text(text);
  if (!loaded.text.empty()) throw std::runtime_error(loaded.text + text);
  return loaded.hardware;
}

// All groups of one memory, and their room.
double of_all(const Level& level, const Count::At& at, std::int64_t groups) {
  const auto one = static_cast<double>(level.in_values ? at.memory_values : at.memory_bytes);
  return level.shared ? one * static_cast<double>(groups) : one;
}
double room_of_all(const Level& level) { return level.shared ? level.capacity->value : level.room(); }

struct Seen {
  std::uint32_t checked = 0, fitting = 0, waiting = 0;
};

// Some groups stand below a stream of a level above.
bool waits(const Partition& partition) {
  return std::ranges::any_of(partition.splits, [&](const Split& stream) {
    return stream.kind == SplitKind::stream && std::ranges::any_of(partition.splits, [&](const Split& group) {
             return group.kind == SplitKind::group && group.level > stream.level;
           });
  });
}

void check(const Kernel& kernel, const Hardware& hardware, Seen& seen) {
  const auto cost = estimate(kernel, hardware, Model::machine);
  const auto counted = count(kernel, hardware);
  ++seen.checked;
  seen.fitting += cost.overruns.empty();
  for (const auto& predicted : cost.levels) {
    const auto& at = counted.levels.at(predicted.level - 1);
    const auto& level = hardware.levels[predicted.level];
    CAPTURE(predicted.level);
    REQUIRE(predicted.memory_values == at.memory_values);
    REQUIRE(predicted.memory_bytes == at.memory_bytes);
    if (cost.overruns.empty()) REQUIRE(of_all(level, at, predicted.groups_per_parent) <= room_of_all(level));
  }
  seen.waiting += waits(kernel.partition);
}

}  // namespace

TEST_CASE("a memory holds at its fullest instant what a walk of all groups finds alive", "[residents]") {
  Seen seen;
  for (std::uint32_t seed = 0; seed < law_diagrams(); ++seed) {
    const Diagram diagram = random_diagram(seed);
    const auto derivation = derived(diagram);
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 6; ++attempt) {
      const auto hardware = random_machine(random);
      const auto partition = random_partition(*derivation, hardware.levels.size(), random);
      if (!illegal(*derivation, hardware, partition).empty()) continue;
      const Kernel kernel = make_kernel(derivation, partition);
      INFO("seed " << seed << "\n"
                   << nap_text(diagram, partition, hardware) << to_text(lower(kernel, hardware), hardware));
      check(kernel, hardware, seen);
    }
  }
  CHECK(seen.checked > law_diagrams());
  CHECK(seen.fitting > seen.checked / 20);
  CHECK(seen.waiting > law_diagrams() / 100);
}

TEST_CASE("what a search finds holds no more at its fullest instant than there is room", "[residents]") {
  Seen seen;
  for (std::uint32_t seed = 0; seed < law_diagrams() / 20; ++seed) {
    const auto derivation = derived(random_diagram(seed));
    std::mt19937 random(seed);
    const auto hardware = random_machine(random);
    Goal goal;
    goal.objective = Objective::transfers;
    for (const auto& found : search(derivation, hardware, goal).best) {
      INFO("seed " << seed << "\n" << to_text(found.kernel.partition, found.kernel.derivation->scratch, hardware));
      check(found.kernel, hardware, seen);
    }
  }
  CHECK(seen.fitting == seen.checked);
  CHECK(seen.checked > law_diagrams() / 60);
}
