// From partition to configuration: occupancy against what cuda_occupancy.h says, the counts of a step by hand, overlap
// against a simulation of it.
#include "napkin/configure.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "configure/labels.hpp"
#include "configure/launch.hpp"
#include "configure/occupancy.hpp"
#include "configure/pipelining.hpp"
#include "configure/raster.hpp"
#include "configure/step.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

Kernel kernel_of(const std::string& example, const std::string& words, const Hardware& hardware,
                 const Overrides& overrides = {}) {
  return testing::planned(read_example(example + ".nap", overrides), words, hardware);
}
Configuration configured(const Kernel& kernel, const Hardware& hardware, Model model) {
  auto made = configure(kernel, estimate(kernel, hardware, model), hardware, model);
  REQUIRE(made);
  return *made;
}
const Pipelining& find(const Configuration& made, Overlap overlap) {
  return *std::ranges::find(made.pipelinings, overlap, &Pipelining::overlap);
}
double clocks_of_column(const Configuration& made, const std::string& column, Resource on) {
  for (const auto& one : made.clocks)
    if (one.column == column && one.on == on) return one.clocks;
  return 0;
}
const std::string flash = "group q 128, stream x 64 at smem";

}  // namespace

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

TEST_CASE("the paper's configuration of attention on Hopper", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  Overrides types;
  types.types = {{"Q", Datatype::f8e4m3}, {"K", Datatype::f8e4m3}};
  const auto kernel = kernel_of("attention", "group q 384, stream x 64 at smem; group q 32 at reg", hardware, types);
  const auto made = configured(kernel, hardware, Model::ideal);
  CHECK(made.teams == 3);
  CHECK(made.team_rows == 128);
  CHECK(made.shared_block_bytes == 48 << 10);
  CHECK(made.shared_team_bytes == 48 << 10);
  const auto& within = find(made, Overlap::within_team);
  CHECK(within.team_register_bytes == 598 * 128);
  CHECK(within.occupancy.teams == 3);
  // O 128, S 64, P 64 of the step before, a step of Q of 32, of O of 8, and three scalars; two bytes each.
  CHECK(find(made, Overlap::copies).team_register_bytes == (598 - 2 * 64) * 128);
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
  const auto hardware = read_machine("a100-sxm4-40");
  Overrides many;  // blocks, so that a core has several at once
  many.sizes = {{"q", 65536}};
  const auto made =
      configured(kernel_of("attention", flash + "; group q 32 at reg", hardware, many), hardware, Model::machine);
  // Of 128 rows: O 128 and S 64 in f32, three scalars, and a step of 16 of Q in f16.
  CHECK(find(made, Overlap::copies).team_register_bytes == 128 * (4 * (128 + 64 + 3) + 2 * 16));
  CHECK(find(made, Overlap::within_team).team_register_bytes == 128 * (4 * (128 + 64 + 3) + 2 * 16 + 2 * 64));
  // Q, and two of K and V; O goes where Q was.
  CHECK(find(made, Overlap::beside).shared_bytes == (32 + 2 * 16) << 10);
  CHECK(find(made, Overlap::copies).shared_bytes == (32 + 4 * 16) << 10);
}

TEST_CASE("contractions read the core's memory once for every instruction's rows", "[configure]") {
  // Clocks of 128 bytes. tcgen05 takes 128 rows at once, wgmma 64, mma.sync those of a warp.
  const auto read = [](const char* machine, const std::string& words) {
    const auto hardware = read_machine(machine);
    const auto made = configured(kernel_of("attention", words, hardware), hardware, Model::ideal);
    return clocks_of_column(made, "S_sum", Resource::shared) + clocks_of_column(made, "O_sum", Resource::shared);
  };
  CHECK(read("b200-sxm", "group q 128, stream x 128 at smem") == Approx(768).epsilon(1e-3));
  CHECK(read("h100-sxm5", "group q 128, stream x 128 at smem") == Approx(1280).epsilon(1e-3));
  CHECK(read("h100-sxm5", "group q 128, stream x 176 at smem; group q 16 at reg") == Approx(1664).epsilon(1e-3));
  CHECK(read("a100-sxm4-40", flash + "; group q 32 at reg") == Approx(1024 + 256).epsilon(1e-3));
}

TEST_CASE("a step is of the loop with the contractions, wherever loops around it begin and end sums", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto made =
      configured(kernel_of("matmul", "group a 128, stream b 64, c 32 at smem", hardware), hardware, Model::ideal);
  CHECK(clocks_of_column(made, "C_sum", Resource::tensor) == 2.0 * 128 * 64 * 32 / 4096);
  CHECK(made.row_axis == "a");
}

namespace {

// The slow twin of step_seconds: teams that each go through their columns in order, resources that serve one at a
// time in the order in which they are asked. Seconds of a step of all teams, in the long run.
double simulated(const std::vector<std::pair<Resource, double>>& columns, std::int64_t teams) {
  constexpr int steps = 400;
  std::map<Resource, double> free;
  std::vector<double> now(static_cast<std::size_t>(teams), 0);
  std::vector<std::size_t> at(static_cast<std::size_t>(teams), 0);
  std::vector<double> done;
  while (done.size() < static_cast<std::size_t>(steps * teams)) {
    const auto next = static_cast<std::size_t>(std::min_element(now.begin(), now.end()) - now.begin());
    const auto& [on, seconds] = columns[at[next]];
    const double begin = std::max(now[next], free[on]);
    now[next] = free[on] = begin + seconds;
    at[next] = (at[next] + 1) % columns.size();
    if (at[next] == 0) done.push_back(now[next]);
  }
  const auto half = done.size() / 2;
  return (done.back() - done[half - 1]) / static_cast<double>(done.size() - half);
}

}  // namespace

TEST_CASE("teams in turn take what a simulation of them takes", "[configure]") {
  // Contraction, lanes, contraction: each team's share of a step.
  for (const double lanes : {0.25, 0.5, 1.0, 1.5, 3.0})
    for (const std::int64_t teams : {1, 2, 3}) {
      CAPTURE(lanes, teams);
      StepClocks clocks;
      clocks.leading = 1, clocks.pointwise = lanes, clocks.trailing = 1;
      clocks.bound = std::max(2.0, lanes);
      const auto overlap = teams == 1 ? Overlap::copies : teams == 2 ? Overlap::two_teams : Overlap::three_teams;
      const double step = step_seconds(overlap, clocks, teams);
      const double run = simulated({{Resource::tensor, 1}, {Resource::sfu, lanes}, {Resource::tensor, 1}}, teams);
      // In the order in which they ask, teams may miss their turn; never are they faster.
      CHECK(run >= step * (1 - 1e-9));
      CHECK(run <= step * 1.26);
    }
}

TEST_CASE("a timeline of teams in turn is a step of each, and no unit serves two at once", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  for (const auto* words : {"group q 128, stream x 128 at smem", "group q 192, stream x 64 at smem"}) {
    const auto made = configured(kernel_of("attention", words, hardware), hardware, Model::machine);
    for (const auto overlap : {Overlap::two_teams, Overlap::three_teams}) {
      CAPTURE(words, name(overlap));
      const auto& one = find(made, overlap);
      std::map<std::pair<std::int64_t, std::string>, double> busy;
      double end = 0;
      for (const auto& event : one.timeline) {
        if (event.on == Resource::copy) continue;
        busy[{event.team, event.column + std::string(name(event.on))}] += event.end_s - event.begin_s;
        end = std::max(end, event.end_s);
        for (const auto& other : one.timeline) {
          if (&other == &event || other.on == Resource::copy) continue;
          const bool same = other.team == event.team || other.on == event.on;
          const bool apart = other.begin_s >= event.end_s * (1 - 1e-9) || event.begin_s >= other.end_s * (1 - 1e-9);
          CHECK((!same || apart));
        }
      }
      const std::int64_t teams = overlap == Overlap::two_teams ? 2 : 3;
      for (const auto& column : made.clocks)
        for (std::int64_t team = 0; team < teams; ++team)
          if (column.on != Resource::copy && column.on != Resource::shared)
            CHECK(busy[{team, column.column + std::string(name(column.on))}] * static_cast<double>(teams) ==
                  Approx(column.seconds));
      CHECK(end >= one.step_s * 0.99);
      CHECK(end <= one.step_s * 1.3);
    }
  }
}

TEST_CASE("overlap never makes a step longer, nor shorter than its busiest resource", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  for (const auto* words : {"group q 64, stream x 64 at smem", "group q 128, stream x 128 at smem",
                            "group q 192, stream x 64 at smem", "group q 128, stream x 48 at smem"}) {
    const auto made = configured(kernel_of("attention", words, hardware), hardware, Model::machine);
    double bound = 0;
    for (const auto& resource : made.resources) bound = std::max(bound, resource.seconds);
    const double none = find(made, Overlap::none).step_s;
    for (const auto& one : made.pipelinings) {
      CAPTURE(words, name(one.overlap));
      CHECK(one.step_s >= bound * (1 - 1e-9));
      CHECK(one.step_s <= none * (1 + 1e-9));
      CHECK(one.utilization <= 1 + 1e-9);
    }
  }
}

TEST_CASE("blocks that nothing makes take turns hide part of what they could", "[configure]") {
  const auto hardware = read_machine("a100-sxm4-80");
  Overrides many;
  many.sizes = {{"q", 65536}};
  const auto two =
      configured(kernel_of("attention", flash + "; group q 32 at reg", hardware, many), hardware, Model::machine);
  const auto& beside = find(two, Overlap::beside);
  REQUIRE(beside.runs);
  CHECK(beside.occupancy.blocks == 2);
  double busiest = 0, all = 0;
  for (const auto& one : two.resources)
    if (one.on != Resource::copy) busiest = std::max(busiest, one.seconds), all += one.seconds;
  // And twice the 24.6 clocks of an instruction, of the lowered clock.
  const double waits = 2 * 24.6 / 1.41e9 / (0.94 / 0.995);
  CHECK(beside.step_s == Approx(busiest + 0.4 * (all - busiest + waits)));
  // mma.sync is not waited for later: no turns, and no step within another.
  for (const auto overlap : {Overlap::within_team, Overlap::two_teams, Overlap::three_teams})
    CHECK_FALSE(find(two, overlap).runs);
  CHECK(two.chosen == 2);
  CHECK(two.launch->time_s == *beside.launch_s);
  CHECK(*find(two, Overlap::copies).launch_s > two.launch->time_s);
}

TEST_CASE("blocks do not take turns with each other", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  Overrides many;
  many.sizes = {{"q", 65536}};
  const auto one =
      configured(kernel_of("attention", "group q 64, stream x 64 at smem", hardware, many), hardware, Model::machine);
  CHECK(find(one, Overlap::copies).occupancy.blocks >= 2);
  CHECK(one.teams == 1);
  CHECK_FALSE(find(one, Overlap::two_teams).runs);
  const auto two =
      configured(kernel_of("attention", "group q 128, stream x 64 at smem", hardware, many), hardware, Model::machine);
  CHECK(two.teams == 2);
  CHECK(find(two, Overlap::two_teams).runs);
}

TEST_CASE("what stands in no profile can be set", "[configure]") {
  const auto told = [](const char* path, const char* value) {
    const auto hardware = read_machine("a100-sxm4-80", {{path, value}});
    Overrides many;
    many.sizes = {{"q", 65536}, {"x", 65536}};
    return configured(kernel_of("causal", flash + "; group q 32 at reg", hardware, many), hardware, Model::machine);
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

TEST_CASE("columns outside of the step take their part of the core", "[configure]") {
  // Streaming the width of V leaves scores and softmax in the body around the step, which other blocks hide only as far
  // as matrix units and lanes are free.
  const auto hardware = read_machine("a100-sxm4-80");
  Overrides many;
  many.sizes = {{"q", 65536}};
  const auto whole =
      configured(kernel_of("attention", "group q 64, stream x 48 at smem", hardware, many), hardware, Model::machine);
  const auto narrow = configured(kernel_of("attention", "group q 64, stream x 48, d' 16 at smem", hardware, many),
                                 hardware, Model::machine);
  CHECK(narrow.launch->time_s > 0.95 * whole.launch->time_s);
  // Scores of 256 x 96 in f32 and the carried 256 x 128 of O do not fit into the registers of a thread.
  const auto large = configured(kernel_of("attention", "group q 256, stream x 96, d' 16 at smem", hardware, many),
                                hardware, Model::machine);
  CHECK(find(large, Overlap::none).occupancy.registers_per_thread > 96 + 128 + 20);
}

TEST_CASE("divisors are the least common multiple of their reasons", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto made = configured(kernel_of("attention", flash, hardware), hardware, Model::machine);
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

TEST_CASE("blocks at once read a tile from memory once", "[configure]") {
  // One by one: the tiles of A and B that the first 132 of 32 x 16 blocks of C need.
  const auto hardware = read_machine("h100-sxm5");
  const auto step = step_of(kernel_of("matmul", "group a 128, c 256, stream b 64 at smem", hardware), hardware);
  REQUIRE(step);
  std::set<std::int64_t> rows, columns;
  for (std::int64_t block = 0; block < 132; ++block) rows.insert(block / 16), columns.insert(block % 16);
  double first_of_rows = 0, first_of_columns = 0;
  for (const auto id : step->streamed)
    (step->diagram().at(step->nest->at(id).array).name == "A" ? first_of_rows : first_of_columns) =
        first_readers(*step, id, hardware);
  CHECK(first_of_columns == Approx(static_cast<double>(columns.size()) / 132));
  CHECK(first_of_rows <= static_cast<double>(rows.size()) / 132 + 1e-9);
  CHECK(first_of_rows >= static_cast<double>(rows.size() - 1) / 132 - 1e-9);
}

TEST_CASE("what a launch loses adds up to its time", "[configure]") {
  for (const auto* machine : {"a100-sxm4-80", "h100-sxm5", "rtx4090"})
    for (const auto* example : {"attention", "causal"})
      for (const auto model : {Model::machine, Model::ideal}) {
        CAPTURE(machine, example);
        const auto hardware = read_machine(machine);
        const auto made = configured(kernel_of(example, "group q 64, stream x 32 at smem", hardware), hardware, model);
        if (!made.launch) continue;
        double sum = made.launch->ideal_s;
        for (const auto& loss : made.launch->losses) sum += loss.seconds;
        CHECK(sum == Approx(made.launch->time_s));
        CHECK(made.launch->blocks == 64);
        double shown = 0;
        for (const auto& line : lines(*made.launch)) {
          CHECK(line.seconds >= 0);
          shown += line.seconds;
        }
        CHECK(shown == Approx(made.launch->time_s));
      }
}

TEST_CASE("the time that the search compares is that of the configuration", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  for (const auto* example : {"attention", "causal", "matmul", "chained_matmul"}) {
    CAPTURE(example);
    const auto found = search(testing::derived(read_example(example + std::string(".nap"))), hardware, {});
    REQUIRE(found.best.size() == 1);
    const auto& [kernel, cost] = found.best.front();
    const auto made = configured(down_to(kernel, *hardware.core), hardware, Model::machine);
    REQUIRE(made.launch);
    CHECK(*cost.time_s == Approx(made.launch->time_s));
    for (const auto& neighbour : made.neighbours)
      if (neighbour.runs && neighbour.size % 64 == 0) CHECK(*neighbour.time_s >= made.launch->time_s * (1 - 1e-9));
  }
}

TEST_CASE("the idle machine draws its power for as long as the launch takes", "[configure]") {
  const auto energy = [](const char* idle, Objective objective, const char* example) {
    const auto hardware = read_machine("h100-sxm5", {{"idle_power", idle}});
    const Goal goal{.objective = objective, .fixed = {}};
    const auto found = search(testing::derived(read_example(example + std::string(".nap"))), hardware, goal);
    REQUIRE(found.best.size() == 1);
    CHECK(found.optimal);
    return found.best.front().cost;
  };
  for (const auto* example : {"attention", "matmul", "causal"}) {
    CAPTURE(example);
    const auto less = energy("71 W", Objective::time, example), more = energy("171 W", Objective::time, example);
    CHECK(*more.time_s == *less.time_s);
    CHECK(*more.energy_j - *less.energy_j == Approx(100 * *less.time_s));
    // Where nearly all of it is the idle machine's, least energy is least time.
    const auto least = energy("1 MW", Objective::energy, example);
    CHECK(*least.time_s == Approx(*less.time_s));
    CHECK(*energy("71 W", Objective::energy, example).energy_j <= *less.energy_j);
  }
}

TEST_CASE("what the cache answers costs what the cache does", "[configure]") {
  const auto hardware = read_machine("h100-sxm5"),
             dear = read_machine("h100-sxm5", {{"caches.l2.energy", "93.4 pJ/B"}});
  const auto kernel = testing::planned(read_example("attention.nap"), "group q 128, stream x 128 at smem", hardware);
  const auto cost = estimate(kernel, hardware, Model::machine), all = estimate(kernel, dear, Model::machine);
  const auto again = cost.levels.front().transfer_bytes - cost.compulsory_bytes;
  CHECK(again > 0);
  CHECK(*all.energy_j - *cost.energy_j == Approx(static_cast<double>(again) * (93.4e-12 - 39e-12)));
}

TEST_CASE("columns of another body take their time beside the step", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto time = [&](const char* partition) {
    return configured(kernel_of("attention", partition, hardware), hardware, Model::machine).launch->time_s;
  };
  CHECK(time("group q 64, stream x 64, d' 64 at smem") > time("group q 64, stream x 64 at smem"));
}

TEST_CASE("tiles on their way bound small steps", "[configure]") {
  const auto far = read_machine("h100-sxm5", {{"levels.smem.latency", "47900 clk"}});
  const auto near = read_machine("h100-sxm5", {{"levels.smem.latency", "1 clk"}});
  const auto step = [&](const Hardware& hardware, const char* partition) {
    const auto made = configured(kernel_of("attention", partition, hardware), hardware, Model::machine);
    return made.pipelinings[made.chosen].step_s;
  };
  const auto slower = [&](const char* partition) { return step(far, partition) / step(near, partition); };
  CHECK(slower("group q 64, stream x 16 at smem") > 2);
  CHECK(slower("group q 128, stream x 128 at smem") > 2);
}

TEST_CASE("a ragged last wave costs a whole one", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto time = [&](std::int64_t queries) {
    Overrides sizes;
    sizes.sizes = {{"q", queries}};
    const auto made = configured(kernel_of("attention", "group q 128, stream x 176 at smem", hardware, sizes), hardware,
                                 Model::machine);
    REQUIRE(made.launch);
    return made.launch->time_s;
  };
  const auto full = time(132 * 128), one_more = time(133 * 128), twice = time(264 * 128);
  CHECK(one_more > full * 1.5);
  CHECK(one_more <= twice * 1.01);
}

TEST_CASE("cores without a block leave their share of the memory to the others", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  constexpr double depth = 65536, columns = 128, rows = 64;
  const auto time = [&](std::int64_t blocks) {
    Overrides sizes;
    sizes.sizes = {{"a", 64}, {"b", 65536}, {"c", blocks * 128}};
    const auto kernel = kernel_of("matmul", "group a 64, c 128, stream b 64 at smem", hardware, sizes);
    const auto made = configured(kernel, hardware, Model::machine);
    REQUIRE(made.launch);
    REQUIRE(made.launch->bound == Resource::copy);
    return made.launch->time_s - hardware.limits.launch_seconds->value;
  };
  const auto memory = [&](double blocks) {
    return 2 * depth * (rows + blocks * columns) / hardware.levels[*hardware.core].bandwidth->reached();
  };
  // All of the memory for as many as take it; by itself a core has its share of the cache.
  for (const std::int64_t blocks : {99, 115, 132, 264}) {
    CAPTURE(blocks);
    CHECK(time(blocks) == Approx(memory(static_cast<double>(blocks))).epsilon(0.03));
  }
  const double alone = 2 * depth * (rows + columns) * 132 / hardware.caches.at(0).bandwidth->reached();
  CHECK(time(1) == Approx(alone).epsilon(0.03));
  // More blocks are never done sooner.
  double before = 0;
  for (const std::int64_t blocks : {1, 2, 20, 66, 99, 131, 132, 133, 150, 198, 263, 264, 265}) {
    CAPTURE(blocks);
    CHECK(time(blocks) >= before);
    before = time(blocks);
  }
}

TEST_CASE("the cache answers for one tile while the memory brings another", "[configure]") {
  const auto hardware = read_machine("a100-sxm4-80");
  Overrides sizes;
  sizes.sizes = {{"a", 64}, {"b", 12288}, {"c", 108 * 128}};
  const auto kernel = kernel_of("matmul", "group a 64, c 128, stream b 64 at smem", hardware, sizes);
  const auto made = configured(kernel, hardware, Model::machine);
  double sum = 0, copies = 0;
  for (const auto& one : made.clocks) sum += one.on == Resource::copy ? one.seconds : 0;
  for (const auto& one : made.resources) copies += one.on == Resource::copy ? one.seconds : 0;
  // A comes from the cache for all but one block, B is brought for each.
  const double a = 64 * 64 * 2, b = 64 * 128 * 2;
  const double memory = (a + 108 * b) / hardware.levels[*hardware.core].bandwidth->reached();
  const double cache = 108 * (a + b) / hardware.caches.at(0).bandwidth->reached();
  CHECK(copies == Approx(std::max(memory, cache)));
  CHECK(copies < sum);
}

namespace {

// Cores that take blocks of uneven lengths as they come, so many at once, which share the core; one by itself has three
// quarters of it. How much longer the last core takes than all do on average, in blocks of mean length.
double simulated_end(std::size_t at_once, std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<std::vector<double>> cores(132);
  int blocks = 2000;
  double work = 0, now = 0;
  const auto feed = [&](std::vector<double>& core) {
    for (; blocks > 0 && core.size() < at_once; --blocks) {
      core.push_back(static_cast<double>(random() % 1000 + 1) / 500);
      work += core.back();
    }
  };
  const auto rate = [&](const std::vector<double>& core) {
    return (core.size() == at_once ? 1 : 0.75) / static_cast<double>(core.size());
  };
  for (auto& core : cores) feed(core);
  constexpr double never = 1e9;
  while (true) {
    double step = never;
    for (const auto& core : cores)
      if (!core.empty()) step = std::min(step, *std::ranges::min_element(core) / rate(core));
    if (step == never) return now - work / static_cast<double>(cores.size());
    now += step;
    for (auto& core : cores) {
      if (core.empty()) continue;
      const double done = step * rate(core);
      for (auto& one : core) one -= done;
      std::erase_if(core, [](double one) { return one < 1e-12; });
      feed(core);
    }
  }
}

}  // namespace

TEST_CASE("cores that hold two blocks of uneven lengths wait about twice as long at the end", "[configure]") {
  double one = 0, two = 0;
  for (const std::uint32_t seed : {1, 2, 3, 4, 5, 6}) one += simulated_end(1, seed), two += simulated_end(2, seed);
  CHECK(two / one > 1.5);
  CHECK(two / one < 2.2);
  const auto hardware = read_machine("h100-sxm5");
  Demand demand;
  demand.blocks = 2000, demand.per_core = 2000.0 / 132, demand.masked = true;
  const auto end = [&](double at_once) { return rounds_of(demand, hardware, at_once).all() - demand.per_core; };
  CHECK(end(2) == Approx(2 * end(1)));
}

TEST_CASE("lanes compare where a mask cuts a piece", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto lanes = [&](const char* example, std::int64_t positions) {
    Overrides sizes;
    sizes.sizes = {{"q", positions}, {"x", positions}};
    const auto kernel = kernel_of(example, "group q 128, stream x 128 at smem", hardware, sizes);
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
  const auto kernel = kernel_of("attention", "", hardware);
  CHECK_FALSE(configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine));
  const auto gpu = read_machine("h100-sxm5");
  const auto softmax = kernel_of("softmax", "group r 1 at smem", gpu);
  CHECK_FALSE(configure(softmax, estimate(softmax, gpu, Model::machine), gpu, Model::machine));
}
