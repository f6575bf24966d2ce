// Exploration against its slow twins: the front against every partition, curves against bounds and against each other,
// the ground around a partition against partitions asked about one by one.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "napkin/explore.hpp"
#include "search/space.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/nap_text.hpp"
#include "support/planned.hpp"
#include "support/random_diagram.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"
#include "timing/launch_configs.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

using Traded = std::array<double, 3>;

Traded traded(const Candidate& one, const Front& front) {
  const auto& level = one.cost.levels.at(front.level - 1);
  return {one.cost.time_s.value_or(0), static_cast<double>(level.transfer_bytes),
          static_cast<double>(level.memory_bytes)};
}

bool covers(const Traded& one, const Traded& other, double tolerance) {
  return one[0] <= other[0] * (1 + tolerance) && one[1] <= other[1] * (1 + tolerance) &&
         one[2] <= other[2] * (1 + tolerance);
}

void compare_fronts(const std::string& text, const Hardware& hardware, double tolerance) {
  const auto derivation = derived(read_text(text));
  const auto fast = explore_front(derivation, hardware, Model::machine, tolerance);
  const auto slow = explore_front_exhaustively(derivation, hardware, Model::machine, 0);
  REQUIRE(fast.complete);
  REQUIRE(!slow.candidates.empty());
  for (const auto& one : slow.candidates) {
    INFO(to_text(one.kernel.partition, derivation->scratch, hardware));
    CHECK(std::ranges::any_of(fast.candidates, [&](const Candidate& found) {
      return covers(traded(found, fast), traded(one, slow), tolerance + 1e-9);
    }));
  }
  for (const auto& one : fast.candidates)
    for (const auto& other : fast.candidates)
      if (&one != &other) CHECK(!covers(traded(one, fast), traded(other, fast), 0));
  CHECK(std::ranges::is_sorted(fast.candidates, {}, [](const Candidate& one) { return *one.cost.time_s; }));
}

const std::string product =
    "diagram product\naxis a = 192; axis b = 32; axis c = 64\n"
    "input A: f16[a, b]; input B: f16[b, c]\nC: f16[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n";
const std::string attention =
    "diagram scores\naxis q = 96; axis x = 32; axis d = 16\n"
    "input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, d]\n"
    "S[q, x] = sum[d](Q[q, d] * K[x, d])\nP: f16[q, x] = softmax[x](S[q, x])\n"
    "O: f16[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n";

}  // namespace

TEST_CASE("the front covers every partition", "[explore][long]") {
  for (const auto& text : {product, attention})
    for (const double tolerance : {0.0, 0.05}) {
      INFO(text << tolerance);
      compare_fronts(text, read_machine("h100-sxm5", {{"levels.smem.count", "3"}}), tolerance);
      compare_fronts(text, read_machine("toy", {{"levels.smem.capacity", "64 KiB"}}), tolerance);
    }
}

TEST_CASE("less room never moves less, and nothing moves less than its bound", "[explore][long]") {
  Overrides small;
  small.sizes = {{"q", 256}, {"x", 256}};
  int bounded = 0;
  for (const auto* name : {"matmul", "attention", "rmsnorm_projection", "causal"}) {
    INFO(name);
    const bool masked = std::string(name) == "causal";
    const auto diagram = read_example(fmt::format("{}.nap", name), masked ? small : Overrides{});
    std::vector<StatementId> all;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
    const auto derivation = std::make_shared<const Derivation>(derive(diagram, all));
    for (const auto* machine : {"h100-sxm5", "two-level"}) {
      Effort effort;
      effort.each_doubling = 1;
      const auto curve = explore_rooms(derivation, read_machine(machine), effort);
      CHECK(curve.whole_tiles == (masked && machine[0] == 'h'));
      REQUIRE(!curve.points.empty());
      for (std::size_t i = 0; i < curve.points.size(); ++i) {
        const auto& point = curve.points[i];
        INFO(machine << ", room " << point.room);
        CHECK(point.moved >= point.bound.moved);
        bounded += point.bound.why.find("matrix product") != std::string::npos;
        if (i == 0) continue;
        CHECK(point.room > curve.points[i - 1].room);
        CHECK(point.moved <= curve.points[i - 1].moved);
        if (!point.proven) continue;
        CHECK(point.bound.moved <= curve.points[i - 1].bound.moved);
      }
      CHECK(curve.points.back().moved == curve.points.back().bound.moved);
    }
  }
  CHECK(bounded > 20);
}

TEST_CASE("a bound of matrix products is of matrix products alone", "[explore]") {
  const auto bound = [](const std::string& statements) {
    const auto diagram = read_text(
        "diagram one\naxis a = 512; axis b = 512; axis c = 512\n"
        "input A: f16[a, b]; input B: f16[b, c]; input M: bool[a, c] density 0.5\n" +
        statements);
    return lower_bound(*derived(diagram), 4096, false);
  };
  const double held = 2048, compulsory = 3 * 512 * 512 * 2;
  const auto plain = bound("C: f16[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n");
  CHECK(plain.moved == Approx(2 * (2 * 512.0 * 512 * 512 / std::sqrt(held) - 2 * held)));
  CHECK(bound("C[a, c] = sum[b](A[a, b] * B[b, c])\nD: f16[a, c] = gelu(C[a, c])\noutput D\n").moved ==
        Approx(plain.moved));
  CHECK(bound("C[a, c] = sum[b](A[a, b] * B[b, c])\nD: f16[a, c] = where(M[a, c], C[a, c], 0)\noutput D\n").moved <
        plain.moved);
  // Half of the products of an array with itself are the others again.
  CHECK(bound("C: f16[a, c] = sum[b](B[b, a] * B[b, c])\noutput C\n").moved < plain.moved);
  CHECK(bound("C: f16[a, c] = where(M[a, c], A[a, c], 0)\noutput C\n").why.ends_with("if all of them are needed"));
  // Of two, one after the other, no theorem says more.
  CHECK(bound("C[a, c] = sum[b](A[a, b] * B[b, c])\nD: f16[a, b] = sum[c](C[a, c] * B[b, c])\noutput D\n")
            .why.ends_with("no larger bound is known for fused products"));
  CHECK_FALSE(plain.why.ends_with("unknown"));
  CHECK(bound("C[a, c] = sum[b](A[a, b] * B[b, c])\nD: f16[a] = sum[c](C[a, c])\noutput D\n").moved < compulsory);
}

TEST_CASE("the ground around a partition is as high as each of its places", "[explore]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto kernel =
      planned(read_example("attention.nap"), "group q 64, stream x 64 at smem; group q 16 at reg", hardware);
  const auto ground = explore_pieces(kernel, hardware, Model::machine);
  REQUIRE(ground);
  REQUIRE(ground->up);
  REQUIRE(ground->time_s.size() == ground->up->sizes.size());
  CHECK(ground->across.sizes.at(ground->across.chosen) == 64);
  CHECK(ground->up->sizes.at(ground->up->chosen) == 64);
  int checked = 0;
  for (std::size_t row = 0; row < ground->time_s.size(); ++row) {
    REQUIRE(ground->time_s[row].size() == ground->across.sizes.size());
    for (std::size_t column = 0; column < ground->across.sizes.size(); ++column) {
      auto partition = kernel.partition;
      partition.splits[0].size = ground->across.sizes[column];
      partition.splits[1].size = ground->up->sizes[row];
      const auto launched = time_launch(kernel.derivation, partition, hardware, *hardware.core);
      if (!ground->time_s[row][column]) continue;
      ++checked;
      CHECK(*ground->time_s[row][column] == Approx(launched.seconds));
    }
  }
  CHECK(checked > 20);
}

TEST_CASE("nothing is slower on a machine with more of something", "[explore][long]") {
  for (const auto* machine : {"h100-sxm5", "a100-sxm4-80", "x86-64-avx2"})
    for (const auto* name : {"attention", "matmul"}) {
      if (machine[0] == 'x' && name[0] == 'a') continue;  // takes seconds
      const auto hardware = read_machine(machine);
      const auto diagram = read_example(std::string(name) + ".nap");
      const auto plan = search(diagram, hardware, {}).plan;
      const auto all = explore_machine(plan, hardware, Model::machine);
      REQUIRE(all.time_s);
      CHECK(all.improvements.size() >= 5);
      int faster = 0;
      for (const auto& one : all.improvements) {
        INFO(machine << ", " << name << ", " << one.what);
        REQUIRE(one.time_kept_s);
        CHECK(*one.time_kept_s <= *all.time_s * 1.0001);
        CHECK(*one.time_s <= *one.time_kept_s);
        faster += *one.time_s < *all.time_s * 0.999;
      }
      CHECK(faster > 0);
    }
}

TEST_CASE("a report has what lies around its plan where it was asked for", "[explore][long]") {
  const auto analyze = [](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> args = {"analyze",  fmt::format(NAPKIN_SOURCE_DIR "/examples/{}.nap", name),
                                     "--target", "h100-sxm5",
                                     "--format", "json"};
    args.insert(args.end(), more.begin(), more.end());
    const auto ran = test::run_cli(args);
    REQUIRE(ran.code == 0);
    return nlohmann::json::parse(ran.out);
  };
  const auto plain = analyze("attention", {});
  for (const auto* key : {"front", "rooms", "pieces"}) CHECK(plain["kernels"][0][key].is_null());
  CHECK(plain["sensitivity"].is_null());

  const auto around = analyze("attention", {"--explore"});
  const auto& kernel = around["kernels"][0];
  CHECK(kernel["front"]["partitions"][0]["time_s"] == kernel["time_s"]);
  CHECK(kernel["rooms"]["points"].size() > 10);
  CHECK(kernel["pieces"]["time_s"].size() == kernel["pieces"]["up"]["sizes"].size());
  CHECK(around["sensitivity"]["time_s"] == around["totals"]["time_s"]);

  CHECK(kernel["rooms"]["whole_tiles"] == false);
}

TEST_CASE("of a machine with twice of something, what it gains is said", "[explore]") {
  const auto ran = test::run_cli({"analyze", NAPKIN_SOURCE_DIR "/examples/attention.nap", "--target", "toy", "--set",
                                  "q=24", "--set", "x=40", "--set", "d=8", "--explore"});
  REQUIRE(ran.code == 0);
  // What bounds the kernel gains, and what it has enough of does not.
  const auto line = [&](const std::string& what) {
    const auto at = ran.out.find("\n    " + what + " ");
    REQUIRE(at != std::string::npos);
    return ran.out.substr(at, ran.out.find('\n', at + 1) - at);
  };
  CHECK(line("bandwidth gmem to smem").find("%") != std::string::npos);
  CHECK(line("capacity of smem").find("%") == std::string::npos);
}

TEST_CASE("a glance sees what a longer look sees, from fewer places", "[explore][long]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto plan = search(read_example("attention.nap"), hardware, {}).plan;
  const auto all = explore(plan, hardware, Model::machine), some = explore(plan, hardware, Model::machine, glance);
  CHECK(!all.at_a_glance);
  CHECK(some.at_a_glance);
  const auto &rooms = all.kernels[0]->rooms.points, &fewer = some.kernels[0]->rooms.points;
  CHECK(fewer.size() < rooms.size() / 2);
  for (const auto& point : fewer) {
    INFO(point.room);
    const auto same = std::ranges::find(rooms, point.room, &CurvePoint::room);
    if (same != rooms.end()) CHECK(point.moved >= same->moved);
    if (point.proven && same != rooms.end()) CHECK(point.moved == same->moved);
  }
  CHECK(some.kernels[0]->front.candidates[0].cost.time_s == all.kernels[0]->front.candidates[0].cost.time_s);
  REQUIRE(some.machine.improvements.size() == all.machine.improvements.size());
  for (std::size_t i = 0; i < all.machine.improvements.size(); ++i)
    CHECK(*some.machine.improvements[i].time_s >= *all.machine.improvements[i].time_s * (1 - 1e-9));
}

TEST_CASE("a glance leaves out what takes little of the time", "[explore][long]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto plan = search(read_text("diagram two\naxis a = 4096; axis b = 4096; axis c = 4096; axis i = 64\n"
                                     "input A: f16[a, b]; input B: f16[b, c]; input X: f16[i]\n"
                                     "C: f16[a, c] = sum[b](A[a, b] * B[b, c])\nY: f16[i] = X[i] * X[i]\n"
                                     "output C; output Y\n"),
                           hardware, {})
                        .plan;
  REQUIRE(plan.kernels.size() == 2);
  const auto all = explore(plan, hardware, Model::machine), some = explore(plan, hardware, Model::machine, glance);
  for (std::size_t i = 0; i < 2; ++i) {
    const bool is_product = plan.kernels[i].derivation->statements == std::vector{StatementId{0}};
    CHECK(all.kernels[i]);
    CHECK(some.kernels[i].has_value() == is_product);
  }
}

TEST_CASE("transfers by room are found under masks that compare three wires", "[explore][long]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto plan = search(read_example("causal.nap"), hardware, {}).plan;
  REQUIRE(plan.kernels.size() == 2);  // its keys are divided among cores
  const auto curve = explore_rooms(plan.kernels[0].derivation, hardware, glance);
  CHECK(curve.whole_tiles);
  CHECK(curve.points.size() > 4);
  for (const auto& point : curve.points) {
    CHECK(point.moved >= point.bound.moved);
    CHECK(!point.proven);
  }
}

TEST_CASE("what lies around a plan needs sizes", "[explore]") {
  const auto ran = test::run_cli({"analyze", "-", "--target", "h100-sxm5", "--explore"},
                                 "diagram one\naxis a\ninput A: f16[a]\nB: f16[a] = A[a] + 1\noutput B\n");
  CHECK(ran.code == 1);
  CHECK(ran.err.find("E0533") != std::string::npos);
}
