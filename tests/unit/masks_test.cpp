// Masks: which loops pass pieces over, what that saves, and that it is counted exactly.
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
