// The search against its slow twin, which looks at every partition of the same space: random diagrams, machines that
// are small enough for something not to fit.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "napkin/search.hpp"
#include "search/space.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/law_diagrams.hpp"
#include "support/machine.hpp"
#include "support/nap_text.hpp"
#include "support/random_diagram.hpp"
#include "support/random_partition.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

std::vector<Hardware> all_machines() {
  return {
      read_machine("two-level", {{"M", "12"}}),
      read_machine("two-level", {{"M", "40"}}),
      read_machine("toy", {{"levels.smem.capacity", "96 B"}, {"levels.reg.usable", "64 B"}}),
      read_machine("toy", {{"levels.smem.capacity", "256 B"}, {"levels.reg.usable", "160 B"}}),
      read_joined_toy({{"levels.smem.capacity", "256 B"}, {"levels.reg.usable", "160 B"}}),
  };
}

std::vector<Goal> all_goals() {
  return {
      {.objective = Objective::time, .model = Model::machine, .top = 1, .fixed = {}},
      {.objective = Objective::time, .model = Model::ideal, .top = 1, .fixed = {}},
      {.objective = Objective::transfers, .model = Model::machine, .top = 3, .fixed = {}},
      {.objective = Objective::energy, .model = Model::machine, .top = 1, .fixed = {}},
  };
}

// A product over blocks of a mask.
Diagram masked_blocks(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto between = [&](int low, int high) { return low + static_cast<int>(random() % (high - low + 1)); };
  const int q = between(3, 7), x = between(3, 7), of_q = between(1, 3), of_x = between(2, 4);
  const auto mask = fmt::format("where(M[q / {}, x / {}], S[q, x], ", of_q, of_x);
  const auto weight = between(0, 1) == 0 ? mask + "0)" : "softmax[x](" + mask + "-inf))";
  return read_text(
      fmt::format("diagram blocks\naxis q = {}; axis x = {}; axis d = 2; axis qb = {}; axis xb = {}\n"
                  "input S: f32[q, x]; input V: f32[x, d]; input M: bool[qb, xb] density 0.{}\n"
                  "O[q, d] = sum[x]({} * V[x, d])\noutput O\n",
                  q, x, (q - 1) / of_q + 1, (x - 1) / of_x + 1, between(1, 9), weight));
}

std::string partition_text(const Candidate& candidate, const Hardware& hardware) {
  return to_text(candidate.kernel.partition, candidate.kernel.derivation->scratch, hardware);
}

// Both, compared; whether something fits. `checked` counts.
void compare(const Diagram& diagram, const Hardware& hardware, const Goal& goal, std::int64_t most, int& checked,
             int& fitting) {
  const auto derivation = derived(diagram);
  if (count_partitions(make_space(derivation, hardware, goal)) > most) return;
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
  const auto machines = all_machines();
  const auto goals = all_goals();
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

TEST_CASE("so it does where a mask is asked in blocks", "[long]") {
  const auto machines = all_machines();
  const auto goals = all_goals();
  int checked = 0, fitting = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    compare(masked_blocks(seed), machines[seed % machines.size()], goals[seed / machines.size() % goals.size()], 3000,
            checked, fitting);
  }
  CHECK(checked > 15);
  CHECK(fitting > 5);
}

// There a partition takes as long as its launch; the slow twin configures every one anew.
TEST_CASE("search finds the launch that takes least", "[configure][long]") {
  const std::vector<std::string> texts = {
      "diagram product\naxis a = 192; axis b = 64; axis c = 64\n"
      "input A: f16[a, b]; input B: f16[b, c]\nC: f16[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n",
      "diagram ragged\naxis a = 200; axis b = 40; axis c = 72\n"
      "input A: f16[a, b]; input B: f16[b, c]\nC: f16[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n",
      "diagram scores\naxis q = 128; axis x = 48; axis d = 32\n"
      "input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, d]\n"
      "S[q, x] = sum[d](Q[q, d] * K[x, d])\nP: f16[q, x] = softmax[x](where(x <= q, S[q, x], -inf))\n"
      "O: f16[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n",
  };
  int checked = 0, fitting = 0;
  for (const auto& text : texts)
    for (const auto* name : {"h100-sxm5", "a100-sxm4-80"})
      for (const auto& cores : {"132", "3"}) {
        INFO(text << name << ", " << cores << " cores");
        const auto hardware = read_machine(name, {{"levels.smem.count", cores}});
        compare(read_text(text), hardware, {}, 12'000, checked, fitting);
        compare(read_text(text), hardware, {.objective = Objective::energy, .fixed = {}}, 12'000, checked, fitting);
      }
  CHECK(checked >= 16);
  CHECK(fitting == checked);
}

TEST_CASE("search looks at less than a hundredth of what looking everywhere looks at", "[long]") {
  const std::vector<std::string> texts = {
      "diagram product\naxis a = 120; axis b = 100; axis c = 90\n"
      "input A: f32[a, b]; input B: f32[b, c]\nC[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n",
      "diagram scores\naxis q = 100; axis x = 90; axis d = 8\n"
      "input Q: f32[q, d]; input K: f32[x, d]; input V: f32[x, d]\n"
      "S[q, x] = sum[d](Q[q, d] * K[x, d])\nP[q, x] = softmax[x](S[q, x])\n"
      "O[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n",
  };
  const auto hardware = read_machine("two-level", {{"M", "1500"}});
  for (const auto& text : texts) {
    const auto derivation = derived(read_text(text));
    const auto fast = search(derivation, hardware, {.objective = Objective::transfers, .fixed = {}});
    const auto slow = search_exhaustively(derivation, hardware, {.objective = Objective::transfers, .fixed = {}});
    INFO(text << fast.evaluated << " instead of " << slow.evaluated);
    REQUIRE(fast.optimal);
    REQUIRE_FALSE(slow.best.empty());
    CHECK(partition_text(fast.best.front(), hardware) == partition_text(slow.best.front(), hardware));
    CHECK(100 * fast.evaluated <= slow.evaluated);
  }
}

// Two machines of three cores, joined by fast and by slow links.
TEST_CASE("so it does where memories are joined", "[configure][ring][long]") {
  const std::vector<std::string> texts = {
      "diagram product\naxis a = 192; axis b = 32; axis c = 8\n"
      "input A: f16[a, b]; input B: f16[b, c]\nC: f16[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n",
      "diagram chain\naxis q = 128; axis x = 48; axis d = 16\n"
      "input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x]\n"
      "O[q] = sum[x](sum[d](Q[q, d] * K[x, d]) * V[x])\noutput O\n",
  };
  int checked = 0, fitting = 0;
  for (const auto& text : texts)
    for (const auto* links : {"3.6 TB/s", "1 GB/s"})
      for (const auto objective : {Objective::time, Objective::transfers}) {
        INFO(text << links);
        const auto hardware = read_machine(
            "h100-sxm5-x8", {{"levels.gmem.count", "2"}, {"levels.smem.count", "3"}, {"levels.gmem.bandwidth", links}});
        compare(read_text(text), hardware, {.objective = objective, .fixed = {}}, 100'000, checked, fitting);
      }
  CHECK(checked == 8);
  CHECK(fitting == checked);
}

// Four levels, one memory of which takes its pieces in turn.
TEST_CASE("so it does where a memory holds one piece at a time", "[configure][levels]") {
  const auto text =
      "diagram product\naxis a = 192; axis b = 32; axis c = 8\n"
      "input A: f16[a, b]; input B: f16[b, c]\nC: f16[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n";
  int checked = 0, fitting = 0;
  for (const auto* room : {"9 KiB", "24 MiB"})
    for (const auto objective : {Objective::time, Objective::transfers}) {
      INFO(room);
      const auto hardware = read_machine("a100-sxm4-80-l2", {{"levels.smem.count", "3"},
                                                             {"levels.reg.usable", "4 KiB"},
                                                             {"levels.smem.usable", "8 KiB"},
                                                             {"levels.l2.usable", room}});
      compare(read_text(text), hardware, {.objective = objective, .fixed = {}}, 100'000, checked, fitting);
    }
  CHECK(checked == 4);
  CHECK(fitting == checked);
}

// In the space that the search states: pieces keep to its divisors, and a stream has several.
TEST_CASE("no random legal partition is better than what was found", "[long]") {
  const auto machines = all_machines();
  std::uint32_t checked = 0;
  for (std::uint32_t seed = 0; seed < law_diagrams(); ++seed) {
    const auto diagram = random_diagram(seed);
    const auto& hardware = machines[seed % machines.size()];
    const auto derivation = derived(diagram);
    Goal goal;
    goal.objective = Objective::transfers;
    const auto found = search(derivation, hardware, goal);
    const auto divisors = make_space(derivation, hardware, goal).divisors;
    std::mt19937 random(seed);
    for (int attempt = 0; attempt < 6; ++attempt) {
      auto partition = random_partition(*derivation, hardware.levels.size(), random);
      for (auto& split : partition.splits) {
        const auto divisor = divisors[split.wire.index];
        split.size = (split.size + divisor - 1) / divisor * divisor;
      }
      const bool whole = std::ranges::any_of(partition.splits, [&](const Split& split) {
        return split.kind == SplitKind::stream && split.size >= *diagram.size(split.wire);
      });
      if (whole || !illegal(*derivation, hardware, partition).empty()) continue;
      const auto cost = estimate(make_kernel(derivation, partition), hardware, Model::machine);
      if (!cost.overruns.empty()) continue;
      ++checked;
      INFO("seed " << seed << "\n" << nap_text(diagram, partition, hardware));
      REQUIRE_FALSE(found.best.empty());
      const auto& level = cost.levels.front();
      const auto& best = found.best.front().cost.levels.front();
      if (found.optimal && hardware.levels[1].in_values) REQUIRE(best.transfer_values <= level.transfer_values);
      if (found.optimal && !hardware.levels[1].in_values) REQUIRE(best.transfer_bytes <= level.transfer_bytes);
    }
  }
  CHECK(checked > law_diagrams() / 4);
}

TEST_CASE("more memory never costs transfers") {
  for (std::uint32_t seed = 0; seed < law_diagrams() / 4; ++seed) {
    const auto derivation = derived(random_diagram(seed));
    Goal goal;
    goal.objective = Objective::transfers;
    std::int64_t before = INT64_MAX;
    for (const auto* values : {"8", "24", "80", "300"}) {
      const auto found = search(derivation, read_machine("two-level", {{"M", values}}), goal);
      if (found.best.empty()) continue;
      INFO("seed " << seed << ", " << values << " values");
      const auto moved = found.best.front().cost.levels.front().transfer_values;
      REQUIRE(moved <= before);
      before = moved;
    }
  }
}
