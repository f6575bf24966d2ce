// Overlap within a core against a simulation of it: warpgroups in turn, and blocks beside each other.
#include <algorithm>
#include <map>

#include "napkin/configure.hpp"
#include "support/catch.hpp"
#include "support/configured.hpp"
#include "support/machine.hpp"
#include "timing/launch.hpp"
#include "timing/mainloop/mainloop.hpp"
#include "timing/occupancy.hpp"
#include "timing/pipelining.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

// The slow twin of step_seconds: warpgroups that each go through their columns in order, resources that serve one at a
// time in the order in which they are asked. Seconds of a step of all warpgroups, in the long run.
double simulated(const std::vector<std::pair<Resource, double>>& columns, std::int64_t warpgroups) {
  constexpr int steps = 400;
  std::map<Resource, double> free;
  std::vector<double> now(static_cast<std::size_t>(warpgroups), 0);
  std::vector<std::size_t> at(static_cast<std::size_t>(warpgroups), 0);
  std::vector<double> done;
  while (done.size() < static_cast<std::size_t>(steps * warpgroups)) {
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

TEST_CASE("warpgroups in turn take what a simulation of them takes", "[configure]") {
  // Contraction, lanes, contraction: each warpgroup's share of a step.
  for (const double lanes : {0.25, 0.5, 1.0, 1.5, 3.0})
    for (const std::int64_t warpgroups : {1, 2, 3}) {
      CAPTURE(lanes, warpgroups);
      IterationClocks clocks;
      clocks.leading = 1, clocks.pointwise = lanes, clocks.trailing = 1;
      clocks.bound = std::max(2.0, lanes);
      const auto overlap = warpgroups == 1   ? Overlap::multistage
                           : warpgroups == 2 ? Overlap::ping_pong_of_two
                                             : Overlap::ping_pong_of_three;
      const double step = step_seconds(overlap, clocks, warpgroups);
      const double run = simulated({{Resource::tensor, 1}, {Resource::sfu, lanes}, {Resource::tensor, 1}}, warpgroups);
      CHECK(run == Approx(step));
    }
}

TEST_CASE("a timeline of warpgroups in turn is a step of each, and no unit serves two at once", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  for (const auto* words : {"group q 128, stream x 128 at smem", "group q 192, stream x 64 at smem"}) {
    const auto made = configured(kernel_of_example("attention", words, hardware), hardware, Model::machine);
    for (const auto overlap : {Overlap::ping_pong_of_two, Overlap::ping_pong_of_three}) {
      CAPTURE(words, name(overlap));
      const auto& one = find(made, overlap);
      std::map<std::pair<std::int64_t, std::string>, double> busy;
      double end = 0;
      for (const auto& event : one.timeline) {
        if (event.on == Resource::copy) continue;
        busy[{event.warpgroup, event.column + std::string(name(event.on))}] += event.end_s - event.begin_s;
        end = std::max(end, event.end_s);
        for (const auto& other : one.timeline) {
          if (&other == &event || other.on == Resource::copy) continue;
          const bool same = other.warpgroup == event.warpgroup || other.on == event.on;
          const bool apart = other.begin_s >= event.end_s * (1 - 1e-9) || event.begin_s >= other.end_s * (1 - 1e-9);
          CHECK((!same || apart));
        }
      }
      const std::int64_t warpgroups = overlap == Overlap::ping_pong_of_two ? 2 : 3;
      for (const auto& column : made.clocks)
        for (std::int64_t warpgroup = 0; warpgroup < warpgroups; ++warpgroup)
          if (column.on != Resource::copy && column.on != Resource::shared)
            CHECK(busy[{warpgroup, column.column + std::string(name(column.on))}] * static_cast<double>(warpgroups) ==
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
    const auto made = configured(kernel_of_example("attention", words, hardware), hardware, Model::machine);
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
  const auto hardware = read_machine("a100-sxm4-80", {{"limits.registers_for_addresses", "20"}});
  Overrides many;
  many.sizes = {{"q", 65536}};
  const auto two = configured(kernel_of_example("attention", flash + "; group q 32 at reg", hardware, many), hardware,
                              Model::machine);
  const auto& beside = find(two, Overlap::co_resident);
  REQUIRE(beside.runs);
  CHECK(beside.occupancy.blocks == 2);
  double busiest = 0, all = 0;
  for (const auto& one : two.resources)
    if (one.on != Resource::copy) busiest = std::max(busiest, one.seconds), all += one.seconds;
  // And twice the 24.6 clocks of an instruction, of the lowered clock.
  const double waits = 2 * 24.6 / 1.41e9 / (0.94 / 0.995);
  CHECK(beside.step_s == Approx(busiest + 0.4 * (all - busiest + waits)));
  // mma.sync is not waited for later: no turns, and no step within another.
  for (const auto overlap : {Overlap::intra_warpgroup, Overlap::ping_pong_of_two, Overlap::ping_pong_of_three})
    CHECK_FALSE(find(two, overlap).runs);
  CHECK(two.chosen == 2);
  CHECK(two.launch->time_s == *beside.launch_s);
  CHECK(*find(two, Overlap::multistage).launch_s > two.launch->time_s);
}

TEST_CASE("blocks do not take turns with each other", "[configure]") {
  const auto hardware = read_machine("h100-sxm5");
  Overrides many;
  many.sizes = {{"q", 65536}};
  const auto one = configured(kernel_of_example("attention", "group q 64, stream x 64 at smem", hardware, many),
                              hardware, Model::machine);
  CHECK(find(one, Overlap::multistage).occupancy.blocks >= 2);
  CHECK(one.warpgroups == 1);
  CHECK_FALSE(find(one, Overlap::ping_pong_of_two).runs);
  const auto two = configured(kernel_of_example("attention", "group q 128, stream x 64 at smem", hardware, many),
                              hardware, Model::machine);
  CHECK(two.warpgroups == 2);
  CHECK(find(two, Overlap::ping_pong_of_two).runs);
}
