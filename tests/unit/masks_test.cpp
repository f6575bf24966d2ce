// Masks: which loops pass pieces over, what that saves, and that it is counted exactly.
#include <random>

#include "cost/region.hpp"
#include "napkin/cost.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

Kernel kernel_of(const Diagram& diagram, std::vector<std::pair<std::string, std::int64_t>> groups,
                 std::vector<std::pair<std::string, std::int64_t>> streams) {
  Partition partition;
  for (const auto& [name, size] : groups)
    partition.splits.push_back({SplitKind::group, *find_wire(diagram, name), size, 1});
  for (const auto& [name, size] : streams)
    partition.splits.push_back({SplitKind::stream, *find_wire(diagram, name), size, 1});
  return make_kernel(derived(diagram), partition);
}

// The conditions of the outermost loop of a diagram streamed along x.
std::vector<std::string> needs(const std::string& statements) {
  const auto diagram = read_text("diagram masked\naxis q = 64; axis x = 64\ninput S: f32[q, x]\n" + statements);
  const auto kernel = kernel_of(diagram, {}, {{"x", 8}});
  std::vector<std::string> all;
  for (const auto& step : kernel.program.steps)
    if (const auto* loop = std::get_if<Loop>(&step))
      for (const auto& condition : loop->needs) all.push_back(to_text(kernel.program.scratch, condition));
  return all;
}

using Texts = std::vector<std::string>;

const KernelCost causal(std::int64_t pieces_q, std::int64_t pieces_x) {
  const auto diagram = read_text(
      "diagram causal\naxis q = 4096; axis x = 4096; axis d = 128\n"
      "input Q: f16[q, d]\ninput K: f16[x, d]\ninput V: f16[x, d]\n"
      "S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))\n"
      "P: f16[q, x] = softmax[x](where(x <= q, S[q, x], -inf))\n"
      "O: f16[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n");
  return estimate(kernel_of(diagram, {{"q", pieces_q}}, {{"x", pieces_x}}), read_machine("two-level"), Model::ideal);
}

}  // namespace

TEST_CASE("causal attention runs the pieces that the triangle touches, no others") {
  const auto cost = causal(128, 128);
  REQUIRE(cost.masks.size() == 1);
  CHECK(cost.masks[0].run == 528);
  CHECK(cost.masks[0].all == 1024);
  CHECK(cost.masks[0].conditions == Texts{"x <= q"});
  CHECK(cost.levels[0].transfer_values == 2 * 4096 * 128 + 2 * 528 * 128 * 128);
}

TEST_CASE("finer pieces follow the triangle more closely") {
  // The sum over groups of queries of the keys up to the last of them, in whole pieces.
  for (const std::int64_t pieces : {32, 100, 128, 500}) {
    std::int64_t keys = 0;
    for (std::int64_t q = 0; q < 4096; q += 256)
      keys += std::min<std::int64_t>(4096, (q + 255) / pieces * pieces + pieces);
    CHECK(causal(256, pieces).levels[0].transfer_values == 2 * 4096 * 128 + 2 * keys * 128);
  }
}

TEST_CASE("what a mask guards decides whether its pieces can be passed over") {
  CHECK(needs("Y[q] = sum[x](where(x <= q, S[q, x], 0))\noutput Y\n") == Texts{"x <= q"});
  CHECK(needs("Y[q] = max[x](where(x > q - 8, S[q, x], -inf))\noutput Y\n") == Texts{"x > q - 8"});
  CHECK(needs("Y[q] = min[x](where(2 * x + 1 >= q, S[q, x], inf))\noutput Y\n") == Texts{"2 * x >= q - 1"});
  CHECK(needs("Y[q] = prod[x](where(x == q, S[q, x], 1))\noutput Y\n") == Texts{"x == q"});
  CHECK(needs("Y[q] = logsumexp[x](where(x <= q, S[q, x], -inf))\noutput Y\n") == Texts{"x <= q"});
  CHECK(needs("Y[q] = sum[x](softmax[x](where(x <= q and x > q - 16, S[q, x], -inf)) * S[q, x])\noutput Y\n").size() ==
        2);
  CHECK(needs("Y[q] = sum[x](where(x <= q, S[q, x] / sum[x](where(x <= q, S[q, x], 0)), 0))\noutput Y\n") ==
        Texts{"x <= q"});
  CHECK(needs("Y[q] = sum[x](where(x > q, 0, S[q, x]))\noutput Y\n") == Texts{"x <= q"});
  CHECK(needs("Y[q] = logsumexp[x](S[q, x] + where(x <= q, 0, -inf))\noutput Y\n") == Texts{"x <= q"});
  CHECK(needs("Y[q] = min[x](where(x < 9, 0, inf) + S[q, x])\noutput Y\n") == Texts{"x < 9"});
  CHECK(needs("Y[q] = sum[x](where(x <= q + size(q) - size(x), S[q, x], 0))\noutput Y\n") ==
        Texts{"x <= q + size(q) - size(x)"});
  // Quotients become multiples, which are compared exactly: in doubles 1 / 49 * 49 is less than 1.
  CHECK(needs("Y[q] = sum[x](where(x / 64 == q / 64, S[q, x], 0))\noutput Y\n") == Texts{"x == q"});
  CHECK(needs("Y[q] = sum[x](where(x / 49 == q, S[q, x], 0))\noutput Y\n") == Texts{"x == 49 * q"});
  CHECK(needs("Y[q] = sum[x](where(1 - x / 2 <= q / -3, S[q, x], 0))\noutput Y\n") == Texts{"2 * q <= 3 * x - 6"});
  CHECK(needs("Y[q] = sum[x](where(x <= size(x) / 2, S[q, x], 0))\noutput Y\n") == Texts{"2 * x <= size(x)"});
  // Nothing to pass over: a masked entry counts, every entry leaves, or the condition is none of positions alone.
  CHECK(needs("Y[q] = sum[x](where(x <= q, S[q, x], 1))\noutput Y\n").empty());
  CHECK(needs("Y[q] = max[x](where(x <= q, S[q, x], 0))\noutput Y\n").empty());
  CHECK(needs("Y[q, x] = where(x <= q, S[q, x], 0)\noutput Y\n").empty());
  CHECK(needs("Y[q] = sum[x](where(S[q, x] > 0, S[q, x], 0))\noutput Y\n").empty());
  CHECK(needs("Y[q] = sum[x](where(x <= q or x > 60, S[q, x], 0))\noutput Y\n").empty());
  CHECK(needs("Y[q] = sum[x](where(x <= q, S[q, x], 0) + S[q, x])\noutput Y\n").empty());
}

namespace {

Interval random_interval(std::mt19937& random) {
  const auto begin = static_cast<std::int64_t>(random() % 12);
  return {begin, begin + 1 + static_cast<std::int64_t>(random() % 5)};
}

template <class Visit>
void each_pair(const Intervals& box, Visit visit) {
  for (auto a = box[0].begin; a < box[0].end; ++a)
    for (auto b = box[1].begin; b < box[1].end; ++b) visit(a, b);
}

Condition random_condition(std::mt19937& random) {
  const auto small = [&] { return static_cast<double>(random() % 3) - 1; };
  Condition made;
  for (std::uint32_t w = 0; w < 2; ++w)
    if (const double factor = small(); factor != 0) made.terms.push_back({{w}, factor});
  made.offset = made.constant = static_cast<double>(random() % 9) - 4;
  const auto signs = 1 + random() % 6;  // not `!=`
  made.below = signs == 1 || signs == 2, made.above = signs == 3 || signs == 4, made.at = signs % 2 == 0 || signs == 5;
  return made;
}

bool holds(const Condition& c, std::int64_t a, std::int64_t b) {
  double value = c.offset;
  for (const auto& [wire, factor] : c.terms) value += factor * static_cast<double>(wire.index == 0 ? a : b);
  return value < 0 ? c.below : value > 0 ? c.above : c.at;
}

}  // namespace

TEST_CASE("a condition on a piece is what it is on the positions of the piece") {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto condition = random_condition(random);
    const Intervals box = {random_interval(random), random_interval(random)};
    bool some = false, all = true;
    each_pair(box, [&](auto a, auto b) { some |= holds(condition, a, b), all &= holds(condition, a, b); });
    REQUIRE(holds_somewhere(condition, box) == some);
    REQUIRE(holds_everywhere(condition, box) == all);
  }
}

// The slow twin asks every piece.
TEST_CASE("a region's sum is the sum over its pieces one by one") {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    const auto size = [&] { return 1 + static_cast<std::int64_t>(random() % 6); };
    const std::vector<std::int64_t> outer = {size() * 2, size() * 2}, inner = {size(), size()};
    const auto a = cut_into_pieces(17, {outer[0], inner[0]}), b = cut_into_pieces(13, {outer[1], inner[1]});
    const auto depth = [&] { return static_cast<std::size_t>(random() % 3); };
    Region region;
    region.wires = {{0}, {1}};
    region.measured = {random() % 2 == 0, random() % 2 == 0};
    region.needs = {{{random_condition(random)}, {depth(), depth()}}, {{random_condition(random)}, {2, 2}}};
    region.open = {{random_condition(random)}, {2, 2}};
    region.part = static_cast<Region::Part>(random() % 3);
    // What pieces reach, of one wire, of both, or of none.
    const std::vector<bool> shaped = {random() % 2 == 0, random() % 2 == 0};
    const auto reach = [&](const Intervals& at) {
      return 1 + (shaped[0] ? 3 * at[0].length() + at[0].begin : 0) + (shaped[1] ? 2 * at[1].length() : 0);
    };
    if (random() % 2 == 0) region.footprints = {0};
    std::int64_t expected = 0;
    for (std::size_t m = 0; m < a.count(); ++m)
      for (std::size_t n = 0; n < b.count(); ++n) {
        const auto box = [&](const Region::Test& test) {
          return Intervals{a.at(m, test.depths[0]), b.at(n, test.depths[1])};
        };
        bool run = true;
        for (const auto& test : region.needs) run &= all_hold_somewhere(test.conditions, box(test));
        const bool open = all_hold_everywhere(region.open.conditions, box(region.open));
        if (!run || (region.part == Region::Part::open && !open) || (region.part == Region::Part::masked && open))
          continue;
        expected += (region.measured[0] ? a.leaf(m).length() : 1) * (region.measured[1] ? b.leaf(n).length() : 1) *
                    (region.footprints.empty() ? 1 : reach({a.leaf(m), b.leaf(n)}));
      }
    REQUIRE(sum(region, {&a, &b}, 2, {reach, shaped}) == expected);
  }
}
