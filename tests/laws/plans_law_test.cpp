// Plans against looking at every cut, and what a kernel costs at least against what it costs: random diagrams of a few
// statements on small machines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "search/cuts/cuts.hpp"
#include "search/cuts/prices.hpp"
#include "search/kernels.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/random_diagram.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

std::vector<Hardware> machines() {
  return {
      read_machine("two-level", {{"M", "40"}}),
      read_machine("two-level", {{"M", "400"}}),
      read_machine("toy", {{"levels.smem.capacity", "256 B"}, {"levels.reg.usable", "160 B"}}),
      read_machine("toy"),
      read_joined_toy({{"levels.smem.capacity", "600 B"}}),
  };
}

std::vector<Goal> goals() {
  return {
      {.objective = Objective::time, .model = Model::machine, .top = 1, .fixed = {}},
      {.objective = Objective::time, .model = Model::ideal, .top = 1, .fixed = {}},
      {.objective = Objective::transfers, .model = Model::machine, .top = 1, .fixed = {}},
      {.objective = Objective::energy, .model = Model::machine, .top = 1, .fixed = {}},
  };
}

// The objective, and transfers at the outermost level.
std::pair<double, double> price(const FoundPlan& found, const Hardware& hardware, const Goal& goal) {
  std::pair<double, double> sum{};
  for (const auto& kernel : found.cost.kernels) {
    const auto& outer = kernel.levels.front();
    sum.second += static_cast<double>(hardware.levels[1].in_values ? outer.transfer_values : outer.transfer_bytes);
    const auto& time = goal.model == Model::ideal ? kernel.ideal_time_s : kernel.time_s;
    if (goal.objective == Objective::time) sum.first += time.value_or(0);
    if (goal.objective == Objective::energy) sum.first += kernel.energy_j.value_or(0);
  }
  return sum;
}

Space space_of(const Diagram& diagram, const Hardware& hardware, const Cut& cut) {
  std::vector<StatementId> statements;
  std::vector<ArrayId> outputs;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) {
    if (cut.computed[i]) statements.push_back({i});
    if (cut.saved[i]) outputs.push_back(diagram.statements[i].output);
  }
  return make_space(std::make_shared<const Derivation>(derive(diagram, statements, outputs)), hardware, {});
}

}  // namespace

namespace {

struct Seen {
  int checked = 0, cut = 0, recomputed = 0;
};

void compare(const Diagram& diagram, const Hardware& hardware, Goal goal, Seen& seen) {
  goal.divide = false;  // which the twin does not
  const auto found = search(diagram, hardware, goal);
  const auto best = search_all_cuts(diagram, hardware, goal);
  REQUIRE(found.plan.kernels.empty() == !best.has_value());
  if (!best) return;
  CHECK(found.optimal);
  const auto [objective, transfers] = price(found, hardware, goal);
  CHECK(std::abs(objective - best->first) <= 1e-9 * best->first);
  if (best->first == 0) CHECK(transfers == best->second);
  std::size_t computed = 0;
  for (const auto& kernel : found.plan.kernels) computed += kernel.derivation->statements.size();
  ++seen.checked;
  seen.cut += found.plan.kernels.size() > 1;
  seen.recomputed += computed > diagram.statements.size();
}

// Something cheap that two products read, in random sizes.
Diagram shared_factor(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto size = [&] { return 6 + random() % 8; };
  const auto axes = fmt::format("axis a = {}; axis b = {}; axis c = {}\n", size(), size(), size());
  const auto* cheap = random() % 2 == 0 ? "exp(X[a, b])" : "rmsnorm[b](X[a, b])";
  const auto* rest = random() % 3 == 0 ? "D[a, c] = B[a, c] * C[a, c]; output D\n" : "output B; output C\n";
  return read_text("diagram shared\n" + axes +
                   "input X: f32[a, b]; input V: f32[b, c]; input W: f32[b, c]\nA[a, b] = " + cheap +
                   "\nB[a, c] = sum[b](A[a, b] * V[b, c])\nC[a, c] = sum[b](A[a, b] * W[b, c])\n" + rest);
}

// A product over a short axis, larger than what it is made from, that two sums over its own axes read.
Diagram shared_product(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto size = [&] { return 6 + random() % 8; };
  const auto axes = fmt::format("axis a = {}; axis b = {}; axis c = {}\n", size(), 1 + random() % 2, size());
  const auto* between = random() % 2 == 0 ? "exp(A[a, c])" : "A[a, c] * 2";
  return read_text("diagram shared\n" + axes +
                   "input X: f32[a, b]; input Y: f32[c, b]\nA[a, c] = sum[b](X[a, b] * Y[c, b])\nP[a, c] = " + between +
                   "\nB[a, b] = sum[c](P[a, c] * Y[c, b])\nC[c, b] = sum[a](P[a, c] * X[a, b])\noutput B; output C\n");
}

}  // namespace

TEST_CASE("the plan is as good as the best of all cuts", "[long]") {
  const auto all_machines = machines();
  const auto all_goals = goals();
  Seen seen;
  for (std::uint32_t seed = 0; seed < 120; ++seed) {
    const auto diagram = random_diagram(seed);
    if (diagram.statements.size() < 2) continue;
    INFO("seed " << seed);
    compare(diagram, all_machines[seed % all_machines.size()], all_goals[seed / all_machines.size() % all_goals.size()],
            seen);
  }
  CHECK(seen.checked > 40);
  CHECK(seen.cut > 5);
}

TEST_CASE("what is recomputed is what is best recomputed", "[long]") {
  Seen seen;
  Goal goal;
  goal.objective = Objective::transfers;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    compare(shared_factor(seed), read_machine("two-level", {{"M", std::to_string(12 + 6 * (seed % 6))}}), goal, seen);
  }
  CHECK(seen.checked > 20);
  CHECK(seen.recomputed > 3);
  CHECK(seen.recomputed < seen.checked);
}

TEST_CASE("what gives more than it takes is recomputed where that is best", "[long]") {
  Seen seen;
  Goal goal;
  goal.objective = Objective::transfers;
  for (std::uint32_t seed = 0; seed < 24; ++seed) {
    INFO("seed " << seed);
    compare(shared_product(seed), read_machine("two-level", {{"M", std::to_string(10 + 8 * (seed % 4))}}), goal, seen);
  }
  CHECK(seen.checked > 12);
  CHECK(seen.recomputed > 3);
}

namespace {

// The bound of every kernel of every legal cut holds; counts the kernels, and those that move no more than it.
void check_least(const Diagram& diagram, const Hardware& hardware, const Goal& goal, int& checked, int& tight) {
  const LeastPrices least(diagram, hardware, goal);
  const auto cuts = every_cut(diagram, needed_statements(diagram), 500);
  if (!cuts) return;
  for (const auto& cut : cuts->cuts) {
    const auto space = space_of(diagram, hardware, cut);
    const auto ranking = rank(space, goal, Incumbents(1, space.first), false, 100'000);
    if (ranking.incumbents.best().empty()) continue;
    INFO(cut.computed << " saves " << cut.saved);
    const auto& parts = ranking.incumbents.best().front().score.parts;
    const auto bound = least.of(cut);
    CHECK(bound.objective <= parts[0]);
    CHECK(bound.transfers <= parts[1]);
    ++checked;
    tight += bound.transfers == parts[1];
  }
}

// Three statements on axes of one length, each a masked sum of a product of what is there, read along any of its wires.
std::string masked_statements(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto one_of = [&](const std::vector<std::string>& all) { return all[random() % all.size()]; };
  std::string text =
      "diagram d; axis t = 6; axis x = 6; axis s = 6; input A: f32[x]; input B: f32[t]\n"
      "input C: f32[t, x]; input D: f32[x, s]\n";
  std::vector<std::string> vectors{"A", "B"}, matrices{"C", "D"};
  for (const std::string name : {"L", "M", "Y"}) {
    std::vector<std::string> axes{"t", "x", "s"};
    std::ranges::shuffle(axes, random);
    const auto &kept = axes[0], &folded = axes[1];
    const auto read = [&] {
      return random() % 2 ? fmt::format("{}[{}]", one_of(vectors), one_of({kept, folded}))
                          : fmt::format("{}[{}, {}]", one_of(matrices), one_of({kept, folded}), one_of({kept, folded}));
    };
    const auto value = fmt::format("{}[{}] * {}", vectors.back(), one_of({kept, folded}), read());
    const auto mask = fmt::format("{} {} {}", folded, one_of({"<=", ">=", "<=", "<", "=="}), one_of({kept, kept, "3"}));
    const auto masked = random() % 4 == 0 ? value : fmt::format("where({}, {}, 0)", mask, value);
    text += fmt::format("{}[{}] = sum[{}]({})\n", name, kept, folded, masked);
    vectors.push_back(name);
  }
  return text + "output Y\n";
}

}  // namespace

TEST_CASE("no kernel costs less than the least it is taken for", "[long]") {
  const auto all_machines = machines();
  const auto all_goals = goals();
  int checked = 0, tight = 0;
  for (std::uint32_t seed = 200; seed < 320; ++seed) {
    INFO("seed " << seed);
    check_least(random_diagram(seed), all_machines[seed % all_machines.size()],
                all_goals[seed / all_machines.size() % all_goals.size()], checked, tight);
  }
  CHECK(checked > 200);
  CHECK(tight > 50);
}

TEST_CASE("no kernel with masks that compare axes of one length costs less", "[long]") {
  const auto all_goals = goals();
  int checked = 0, tight = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto text = masked_statements(seed);
    INFO("seed " << seed << "\n" << text);
    check_least(read_text(text), read_machine("two-level", {{"M", "400"}}), all_goals[2], checked, tight);
    check_least(read_text(text), read_machine("toy"), all_goals[seed % 2], checked, tight);
  }
  CHECK(checked > 200);
  CHECK(tight > 50);
}
