// Several memories that are joined: what crosses from one to another against counting it value by value, and what a
// launch then takes against a simulation and against one machine alone.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "napkin/configure.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

const std::string blocks = "group q 128, stream x 128 at smem";

Diagram attention(std::int64_t queries, std::int64_t keys) {
  return read_example("attention.nap", {{{"q", queries}, {"x", keys}}, {}});
}
KernelCost cost_of(const Diagram& diagram, const std::string& words, const Hardware& hardware) {
  return estimate(testing::planned(diagram, words, hardware), hardware, Model::machine);
}
Launch launch_of(const Diagram& diagram, const std::string& words, const Hardware& hardware) {
  const auto kernel = testing::planned(diagram, words, hardware);
  const auto made = configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine);
  REQUIRE(made);
  REQUIRE(made->launch);
  return *made->launch;
}
double lost(const Launch& launch, const std::string& beginning) {
  for (const auto& loss : launch.losses)
    if (loss.what.starts_with(beginning)) return loss.seconds;
  FAIL("no line begins with " << beginning);
  return 0;
}

// Every value of an array that `readers` pieces read lies with one of the children that read it: the one that would
// have to fetch it most often. Pieces go to children in turn.
std::int64_t crossings(std::int64_t readers, std::int64_t children) {
  std::map<std::int64_t, std::int64_t> reads;
  for (std::int64_t piece = 0; piece < readers; ++piece) ++reads[piece % children];
  std::int64_t most = 0;
  for (const auto& [child, times] : reads) most = std::max(most, times);
  return readers - most;
}

}  // namespace

TEST_CASE("what siblings hold crosses for every other reader", "[ring]") {
  const auto hardware = read_machine("h100-sxm5-x8");
  for (const std::int64_t pieces : {1, 2, 4, 8, 16, 32}) {
    const std::int64_t q = 8192, x = 4096, d = 128;
    const auto words = "group q " + std::to_string(q / pieces) + ", stream x 512 at gmem; " + blocks;
    const auto cost = cost_of(attention(q, x), words, hardware);
    CAPTURE(pieces);
    REQUIRE(cost.levels[0].crossing_bytes);
    // K and V by every piece of q; Q and O stay with theirs.
    CHECK(*cost.levels[0].crossing_bytes == 2 * x * d * 2 * crossings(pieces, 8));
    CHECK(cost.levels[0].transfer_bytes == 2 * q * d * 2 + 2 * x * d * 2 * pieces);
    CHECK(*cost.levels[0].ideal_time_s ==
          Approx(static_cast<double>(*cost.levels[0].crossing_bytes) / hardware.levels[1].bandwidth->peak()));
    CHECK_FALSE(cost.levels[1].crossing_bytes);
  }
}

TEST_CASE("a ring as fast as its links takes what one machine takes for its share", "[ring]") {
  const auto ring = read_machine("h100-sxm5-x8"), one = read_machine("h100-sxm5");
  const std::int64_t q = 1 << 17, x = 16384;
  const auto words = "group q " + std::to_string(q / 8) + ", stream x " + std::to_string(x / 8) + " at gmem; " + blocks;
  const auto together = launch_of(attention(q, x), words, ring), alone = launch_of(attention(q / 8, x), blocks, one);
  CHECK(together.time_s == Approx(alone.time_s).epsilon(0.01));
  CHECK(lost(together, "loads from outer memory") == 0);
}

TEST_CASE("what nobody gives to siblings runs on one of them", "[ring]") {
  const auto ring = read_machine("h100-sxm5-x8"), one = read_machine("h100-sxm5");
  const auto all = launch_of(attention(32768, 4096), blocks, ring),
             alone = launch_of(attention(32768, 4096), blocks, one);
  CHECK(all.time_s == Approx(alone.time_s).epsilon(0.01));
  // Nine pieces for eight: one of them has two.
  const std::int64_t full = 132 * 128;
  const auto even = launch_of(attention(8 * full, 4096), "group q 16896 at gmem; " + blocks, ring),
             uneven = launch_of(attention(8 * full, 4096), "group q 15104 at gmem; " + blocks, ring);
  CHECK(uneven.time_s > even.time_s * 1.5);
}

namespace {

// A ring, step by step: the first piece of keys is at home, each next one arrives in its time, and is worked on once it
// is there and the one before is done.
double simulated(double compute, double transfers, int steps) {
  double done = 0;
  for (int step = 0; step < steps; ++step) {
    const double there = transfers / (steps - 1) * step;
    done = std::max(done, there) + compute / steps;
  }
  return done;
}

}  // namespace

TEST_CASE("links hide behind steps as a simulation of the ring says", "[ring]") {
  for (const auto* links : {"100 GB/s", "400 GB/s", "800 GB/s", "1 TB/s", "2 TB/s", "3.6 TB/s"}) {
    const auto hardware = read_machine("h100-sxm5-x8", {{"levels.gmem.bandwidth", links}});
    const auto diagram = attention(32768, 32768);
    const std::string words = "group q 4096, stream x 4096 at gmem; " + blocks;
    const auto launch = launch_of(diagram, words, hardware);
    double before = launch.ideal_s;
    for (const auto& loss : launch.losses) {
      if (loss.what.starts_with("loads from outer memory")) break;
      before += loss.seconds;
    }
    const auto cost = cost_of(diagram, words, hardware);
    CAPTURE(links);
    CHECK(before + lost(launch, "loads from outer memory") == Approx(simulated(before, *cost.levels[0].time_s, 8)));
    // Keys and values at once, before the first step.
    const auto gathered = launch_of(diagram, "group q 4096 at gmem; " + blocks, hardware);
    CHECK(lost(gathered, "loads from outer memory") == Approx(*cost.levels[0].time_s));
  }
}

TEST_CASE("keys go around where there are many queries, and states are merged where there are few", "[ring][long]") {
  const auto hardware = read_machine("h100-sxm5-x8");
  // Enough queries that every core has a block of them, and keys that go around.
  const std::int64_t d = 128, few = 64, many = 8 * 132 * 128, keys = 32768;
  const auto prefill = share(attention(many, keys), hardware, {}), decode = share(attention(few, keys), hardware, {});
  const auto find = [](const std::vector<Shared>& all, Sharing how) {
    const auto found = std::ranges::find(all, how, &Shared::how);
    REQUIRE(found != all.end());
    return *found;
  };
  CHECK(std::ranges::find(prefill, Sharing::apart, &Shared::how) == prefill.end());
  CHECK(std::ranges::is_sorted(prefill, {}, &Shared::time_s));
  // K and V to the seven others; or Q to the seven others, and of m, l and o of eight parts all but an eighth.
  const auto rotated = find(prefill, Sharing::rotated), gathered = find(prefill, Sharing::gathered),
             merged = find(prefill, Sharing::merged);
  CHECK(rotated.crossing_bytes == 7 * 2 * keys * d * 2);
  CHECK(gathered.crossing_bytes == rotated.crossing_bytes);
  CHECK(merged.crossing_bytes >= 7 * many * d * 2 + 7 * many * (d + 2) * 4);
  CHECK(prefill.front().how == Sharing::rotated);
  CHECK(rotated.time_s < gathered.time_s);
  CHECK(decode.front().how == Sharing::merged);
  CHECK(decode.front().crossing_bytes < find(decode, Sharing::rotated).crossing_bytes);
}

TEST_CASE("heads are shared without anything that crosses", "[ring][long]") {
  const auto hardware = read_machine("h100-sxm5-x8");
  const auto all = share(read_example("multi_head.nap"), hardware, {});
  REQUIRE_FALSE(all.empty());
  CHECK(all.front().how == Sharing::apart);
  CHECK(all.front().crossing_bytes == 0);
  CHECK(share(read_example("multi_head.nap"), read_machine("h100-sxm5"), {}).empty());
}

TEST_CASE("what is written by hand stands beside the ways to share", "[ring][long]") {
  const std::string labels = "group q 512, stream x 512 at gmem; group q 64, stream x 64 at smem";
  const std::vector<std::string> asked = {
      "analyze", test::example("attention"), "--target", "h100-sxm5-x8", "--details", "--partition", labels};
  const auto text = test::run_cli(asked).out;
  CHECK(text.find("\nshared by 8 gpus\n") != std::string::npos);
  const auto at = text.find("\n  as written  ");
  REQUIRE(at != std::string::npos);
  // The same at the outermost level as the way that goes around, and no faster below.
  const auto line = text.substr(at, text.find('\n', at + 1) - at);
  CHECK(line.find("group q 512, stream x 512 at gmem  14.7 MB") != std::string::npos);
  CHECK(text.find("pass around while iterating  group q 512, stream x 512 at gmem  14.7 MB") < at);
  CHECK(test::run_cli({"analyze", test::example("attention"), "--target", "h100-sxm5-x8", "--details"})
            .out.find("\n  as written  ") == std::string::npos);
}
