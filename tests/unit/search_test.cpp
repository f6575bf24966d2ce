// What the search finds where the answer is known.
#include "napkin/search.hpp"

#include <algorithm>
#include <set>

#include "search/space.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"

using namespace napkin;

namespace {

std::shared_ptr<const Derivation> fused(const Diagram& diagram) {
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  return std::make_shared<const Derivation>(derive(diagram, all));
}

Goal least(Objective objective) {
  Goal goal;
  goal.objective = objective;
  return goal;
}

std::string best_text(const Found& found, const Hardware& hardware) {
  REQUIRE_FALSE(found.best.empty());
  const auto& kernel = found.best.front().kernel;
  return to_text(kernel.partition, kernel.derivation->scratch, hardware);
}

std::int64_t size_of(const Partition& partition, SplitKind kind, const Diagram& diagram, const std::string& wire) {
  for (const auto& split : partition.splits)
    if (split.kind == kind && diagram.at(split.wire).name == wire) return split.size;
  return 0;
}

constexpr auto small_matmul = R"(diagram small
axis a = 8; axis b = 8; axis c = 8
input A: f32[a, b]
input B: f32[b, c]
C[a, c] = sum[b](A[a, b] * B[b, c])
output C
)";

}  // namespace

TEST_CASE("pieces are the least of their number") {
  CHECK(piece_sizes(10, {1}) == std::vector<std::int64_t>{10, 5, 4, 3, 2, 1});
  CHECK(piece_sizes(100, {16}) == std::vector<std::int64_t>{100, 64, 48, 32, 16});
  CHECK(piece_sizes(16, {16}) == std::vector<std::int64_t>{16});
  CHECK(piece_sizes(9, {16}) == std::vector<std::int64_t>{9, 1});
  CHECK(piece_sizes(1, {1}) == std::vector<std::int64_t>{1});
  CHECK(piece_sizes(4096, {1}).size() == 127);
  CHECK(piece_sizes(100, {1, 16}) ==
        std::vector<std::int64_t>{100, 64, 48, 32, 15, 13, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  CHECK(piece_sizes(48, {16, 16, true}) == std::vector<std::int64_t>{48, 32, 16, 1});
  CHECK(piece_sizes(20, {1, 16}) == std::vector<std::int64_t>{20, 10, 7, 5, 4, 3, 2, 1});
  // Axes of two million positions have all sizes. Of longer ones, each is within 0.2 % of the next, or the next number.
  CHECK(piece_sizes(1 << 18, {1}).size() == 1023);
  CHECK(piece_sizes(1 << 20, {1}).size() == 2047);
  const auto sizes = piece_sizes(std::int64_t{1} << 40, {1});
  CHECK(sizes.size() < 30'000);
  CHECK(sizes.front() == std::int64_t{1} << 40);
  CHECK(sizes.back() == 1);
  for (std::size_t i = 1025; i < sizes.size(); ++i) {
    REQUIRE(sizes[i] < sizes[i - 1]);
    REQUIRE(sizes[i - 1] - sizes[i] <= std::max<std::int64_t>(1, sizes[i - 1] / 500));
  }
}

TEST_CASE("a matmul is cut into near squares") {
  const auto diagram = read_example("matmul.nap");
  const auto derivation = fused(diagram);
  const auto moved = [&](const std::string& values) {
    const auto found = search(derivation, read_machine("two-level", {{"M", values}}), least(Objective::transfers));
    CHECK(found.optimal);
    REQUIRE_FALSE(found.best.empty());
    CHECK(found.best.front().cost.overruns.empty());
    return found.best.front().cost.levels.front().transfer_values;
  };
  CHECK(moved("65536") <= 570'500'000);
  CHECK(moved("98304") <= 469'800'000);
  CHECK(moved("116736") <= 436'300'000);
  // 99 by 99 would move 2 * 42 * 4096 * 4096 + 4096 * 4096 values.
  CHECK(moved("10000") <= 85LL * 4096 * 4096);
}

TEST_CASE("attention streams its keys past groups of queries") {
  const auto diagram = read_example("attention.nap");
  const auto hardware = read_machine("two-level", {{"M", "65536"}});
  const auto found = search(fused(diagram), hardware, least(Objective::transfers));
  CHECK(found.optimal);
  REQUIRE_FALSE(found.best.empty());
  const auto& best = found.best.front();
  const auto group = size_of(best.kernel.partition, SplitKind::group, diagram, "q");
  REQUIRE(group > 0);
  CHECK(size_of(best.kernel.partition, SplitKind::stream, diagram, "x") > 0);
  const std::int64_t q = 4096, x = 4096, d = 128;
  CHECK(best.cost.levels.front().transfer_values == 2 * q * d + 2 * x * d * ((q + group - 1) / group));
}

TEST_CASE("labels that do nothing are left out") {
  const auto hardware = read_machine("two-level", {{"M", "100000"}});
  CHECK(best_text(search(fused(read_text(small_matmul)), hardware, {}), hardware).empty());
}

TEST_CASE("what is written by hand stays") {
  const auto diagram = read_text(small_matmul);
  const auto hardware = read_machine("toy");
  Goal goal;
  goal.fixed.splits = {{SplitKind::group, *find_wire(diagram, "a"), 3, 1},
                       {SplitKind::stream, *find_wire(diagram, "b"), 8, 1}};
  const auto found = search(fused(diagram), hardware, goal);
  CHECK(best_text(found, hardware).starts_with("group a 3, stream b 8 at smem"));
  for (const auto& split : found.best.front().kernel.partition.splits)
    if (split.level == 1) CHECK(std::ranges::count(goal.fixed.splits, split) == 1);
}

TEST_CASE("what is written by hand down to the innermost level is all there is") {
  const auto diagram = read_text(small_matmul);
  Goal goal;
  goal.fixed.splits = {{SplitKind::group, *find_wire(diagram, "c"), 4, 2}};
  const auto fits = search(fused(diagram), read_machine("toy"), goal);
  REQUIRE(fits.best.size() == 1);
  CHECK(fits.best.front().kernel.partition == goal.fixed);
  CHECK(fits.candidates == 1);
  const auto tight = search(fused(diagram), read_machine("toy", {{"levels.reg.usable", "64 B"}}), goal);
  CHECK(tight.best.empty());
  REQUIRE(tight.nearest);
  CHECK(tight.nearest->kernel.partition == goal.fixed);
  CHECK_FALSE(tight.nearest->cost.overruns.empty());
}

TEST_CASE("the best few differ at the outermost level, best first") {
  const auto hardware = read_machine("toy");
  Goal goal;
  goal.top = 4;
  const auto found = search(fused(read_text(small_matmul)), hardware, goal);
  REQUIRE(found.best.size() == 4);
  std::set<std::vector<Split>> outer;
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    std::vector<Split> splits;
    for (const auto& split : found.best[i].kernel.partition.splits)
      if (split.level == 1) splits.push_back(split);
    CHECK(outer.insert(splits).second);
    if (i > 0) CHECK(*found.best[i - 1].cost.time_s <= *found.best[i].cost.time_s);
  }
}

TEST_CASE("where nothing fits the nearest says by how much") {
  const auto found =
      search(fused(read_text(small_matmul)), read_machine("two-level", {{"M", "2"}}), least(Objective::transfers));
  CHECK(found.best.empty());
  REQUIRE(found.nearest);
  REQUIRE_FALSE(found.nearest->cost.overruns.empty());
  CHECK(found.nearest->cost.overruns.front().over > 0);
}

TEST_CASE("more memory never costs more") {
  const auto derivation = fused(read_text(small_matmul));
  std::int64_t before = INT64_MAX;
  for (const auto* values : {"4", "8", "16", "32", "64", "128", "256"}) {
    const auto found = search(derivation, read_machine("two-level", {{"M", values}}), least(Objective::transfers));
    REQUIRE_FALSE(found.best.empty());
    const auto moved = found.best.front().cost.levels.front().transfer_values;
    CHECK(moved <= before);
    before = moved;
  }
}

TEST_CASE("attention is one kernel") {
  const auto hardware = read_machine("h100-sxm5");
  const auto attention = search(read_example("attention.nap"), hardware, least(Objective::transfers));
  CHECK(attention.plan.kernels.size() == 1);
  CHECK(attention.kernels.size() == 1);
}

TEST_CASE("cutting is never worse than fusing everything or nothing") {
  const auto diagram = read_example("gated_mlp.nap", {{{"t", 256}, {"c", 128}, {"f", 256}, {"o", 128}}, {}});
  const auto hardware = read_machine("toy");
  const auto found = search(diagram, hardware, {});
  REQUIRE(found.cost.time_s);
  double apart = 0;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) {
    const std::vector<StatementId> one{{i}};
    const auto kernel = search(std::make_shared<const Derivation>(derive(diagram, one)), hardware, {});
    REQUIRE_FALSE(kernel.best.empty());
    apart += *kernel.best.front().cost.time_s;
  }
  CHECK(*found.cost.time_s <= apart);
  const auto whole = search(fused(diagram), hardware, {});
  if (!whole.best.empty()) CHECK(*found.cost.time_s <= *whole.best.front().cost.time_s);
}

TEST_CASE("blocks without products are not crumbs", "[cost]") {
  // Each waits for what it loads, and a core holds so many at once.
  const auto hardware = read_machine("h100-sxm5");
  const auto diagram = read_text(
      "diagram d\naxis q = 4096; axis d = 128\ninput A: f32[q, d]\ninput B: f32[q]\n"
      "C: f16[q, d] = A[q, d] / B[q]\noutput C\n");
  const auto derivation = fused(diagram);
  const auto time = [&](std::int64_t q, std::int64_t d) {
    Partition partition;
    for (const auto& verdict : derivation->verdicts)
      partition.splits.push_back(
          {SplitKind::group, verdict.wire, derivation->scratch.at(verdict.wire).name == "q" ? q : d, *hardware.core});
    return *estimate(make_kernel(derivation, partition), hardware, Model::machine).time_s;
  };
  const auto& limits = hardware.limits;
  const double latency =
      hardware.levels[*hardware.core].latency_clocks->value / hardware.find(Unit::fma)->clock_hz->value;
  const double rounds = 4096.0 * 64 / (limits.blocks_per_sm->value * 132);
  CHECK(time(1, 2) > rounds * latency);
  CHECK(time(16, 128) < rounds * latency / 2);
  const auto found = search(derivation, hardware, {});
  REQUIRE(found.best.size() == 1);
  CHECK(found.optimal);
  const auto& best = found.best.front().cost;
  CHECK(static_cast<double>(best.levels.at(0).groups) / (limits.blocks_per_sm->value * 132) * latency <= *best.time_s);
  CHECK(*best.time_s < time(1, 2) / 2);
}

TEST_CASE("pieces are whole instructions where streaming alone leaves a contraction", "[configure]") {
  // As a whole the projection multiplies by the norm of its row too.
  const auto hardware = read_machine("h100-sxm5");
  const auto found = search(fused(read_example("rmsnorm_projection.nap")), hardware, least(Objective::time));
  REQUIRE_FALSE(found.best.empty());
  const auto& kernel = found.best.front().kernel;
  for (const auto& split : kernel.partition.splits)
    if (split.level == *hardware.core && kernel.derivation->scratch.at(split.wire).name == "t")
      CHECK(split.size % 64 == 0);
  CHECK(found.best.front().cost.time_s < 70e-6);  // 44 us of products at the rate that is sustained
}

TEST_CASE("where whole lines do not fit, pieces are of single instructions", "[configure]") {
  // A window of nine lines of weights and of what it covers is more than a core of this machine holds.
  const auto hardware = read_machine("rtx4090");
  const auto found = search(fused(read_example("convolution.nap")), hardware, least(Objective::time));
  REQUIRE_FALSE(found.best.empty());
  CHECK(found.best.front().cost.overruns.empty());
}

TEST_CASE("pieces are whole instructions, and of the wire that is dealt out whole rows of a warpgroup", "[configure]") {
  // Of a product whose columns are longer than its rows, either is.
  const auto hardware = read_machine("h100-sxm5");
  const auto diagram = read_text(R"(diagram wide
axis t = 2048
axis c = 2048
axis f = 5632
input M: f16[t, c]
input W: f16[c, f]
G: f16[t, f] = sum[c](M[t, c] * W[c, f])
output G
)");
  const auto found = search(fused(diagram), hardware, least(Objective::time));
  REQUIRE_FALSE(found.best.empty());
  std::int64_t whole = 0;
  for (const auto& split : found.best.front().kernel.partition.splits) {
    if (split.level != *hardware.core) continue;
    CHECK(split.size % 16 == 0);
    whole += split.kind == SplitKind::group && split.size % 64 == 0;
  }
  CHECK(whole > 0);
}

TEST_CASE("of axes of one operand that all fill fragments one does, and of others there is one position",
          "[configure][long]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto diagram = read_text(R"(diagram window
axis n = 32; axis c = 256; axis o = 256; axis u = 16; axis v = 16; axis i = 3; axis j = 3
axis y = u + i - 1
axis z = v + j - 1
input X: f16[n, y, z, c]
input W: f16[i, j, c, o]
Y: f16[n, u, v, o] = sum[i, j, c](X[n, u + i, v + j, c] * W[i, j, c, o])
output Y
)");
  const auto found = search(fused(diagram), hardware, least(Objective::time));
  REQUIRE_FALSE(found.best.empty());
  const auto& best = found.best.front();
  CHECK(best.cost.overruns.empty());
  CHECK(best.cost.time_s < 55e-6);  // images in rows of one position: 91 us in rows of a piece along v
  CHECK(size_of(best.kernel.partition, SplitKind::group, diagram, "v") == 1);
}

// Undivided, the first product takes 25.3 us; the search of its parts is given up at first.
TEST_CASE("a division of which nothing is known at first is looked at for longer", "[search]") {
  const Overrides sizes{{{"a", 8192}, {"b", 4096}, {"c", 128}, {"d", 3000}}, {}};
  const auto found = search(read_example("chained_matmul.nap", sizes), read_machine("mi300x"), {});
  CHECK(*found.cost.time_s <= 37.05e-6);  // what a partition by hand takes
  CHECK(found.divisions.size() == 1);
  CHECK((found.optimal || found.gap));
}

// The registers of a processor hold few sums: where both operands lie along the sums, no piece is a whole line.
TEST_CASE("examples of any length fit on a processor, however soon the search gives up", "[search][long]") {
  Goal goal;
  goal.patience = 0.02;
  const auto hardware = read_machine("x86-64-avx2");
  for (const std::string name : {"layernorm_projection_gradient", "causal_linear_attention", "linear_attention",
                                 "convolution_gradient", "retention", "matmul"}) {
    CAPTURE(name);
    const auto found = search(read_example(name + ".nap"), hardware, goal);
    CHECK(found.plan.kernels.size() == found.kernels.size());
  }
}
