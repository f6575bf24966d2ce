// The time of a launch: waves and their ends, the cache and the memory below it, power.
#include <algorithm>
#include <set>

#include "napkin/configure.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/configured.hpp"
#include "support/machine.hpp"
#include "timing/labels.hpp"
#include "timing/launch.hpp"
#include "timing/mainloop/mainloop.hpp"
#include "timing/pipelining.hpp"
#include "timing/raster.hpp"

using namespace napkin;
using namespace napkin::testing;

TEST_CASE("blocks at once read a tile from memory once", "[configure]") {
  // One by one: the tiles of A and B that the first 132 of 32 x 16 blocks of C need.
  const auto hardware = read_machine("h100-sxm5");
  const auto step =
      mainloop_of(kernel_of_example("matmul", "group a 128, c 256, stream b 64 at smem", hardware), hardware);
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
        const auto made =
            configured(kernel_of_example(example, "group q 64, stream x 32 at smem", hardware), hardware, model);
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
    return configured(kernel_of_example("attention", partition, hardware), hardware, Model::machine).launch->time_s;
  };
  CHECK(time("group q 64, stream x 64, d 64 at smem") > time("group q 64, stream x 64 at smem"));
}

TEST_CASE("tiles on their way bound small steps", "[configure]") {
  const auto far = read_machine("h100-sxm5", {{"levels.smem.latency", "47900 clk"}});
  const auto near = read_machine("h100-sxm5", {{"levels.smem.latency", "1 clk"}});
  const auto step = [&](const Hardware& hardware, const char* partition) {
    const auto made = configured(kernel_of_example("attention", partition, hardware), hardware, Model::machine);
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
    const auto made = configured(kernel_of_example("attention", "group q 128, stream x 176 at smem", hardware, sizes),
                                 hardware, Model::machine);
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
    const auto kernel = kernel_of_example("matmul", "group a 64, c 128, stream b 64 at smem", hardware, sizes);
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
  const auto kernel = kernel_of_example("matmul", "group a 64, c 128, stream b 64 at smem", hardware, sizes);
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
