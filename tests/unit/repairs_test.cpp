// States that are repaired while several axes stream: found wrong by random diagrams, each kept as it was found.
#include <string>
#include <utility>
#include <vector>

#include "napkin/verify.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

// Of all statements as one kernel with streams at the innermost levels of the toy; whether it is legal and verifies on
// ordinary numbers.
std::pair<bool, bool> streamed(const std::string& text, std::vector<std::pair<std::string, std::size_t>> streams,
                               std::int64_t size = 2) {
  const auto diagram = read_text(text);
  const auto hardware = read_machine("toy");
  const auto derivation = testing::derived(diagram);
  Partition partition;
  for (const auto& [wire, level] : streams)
    partition.splits.push_back({SplitKind::stream, *find_wire(diagram, wire), level == 2 ? size : size + 1, level});
  if (!illegal(*derivation, hardware, partition).empty()) return {false, false};
  const Plan plan{{make_kernel(derivation, partition)}};
  constexpr Numbers ordinary[] = {Numbers::ordinary};
  return {true, verify_plan(diagram, plan, estimate(plan, hardware, Model::machine), hardware, ordinary).ok};
}

}  // namespace

TEST_CASE("what a constant adds to a sum over two axes counts once for every piece") {
  const auto* text =
      "diagram d; axis b = 5; axis e = 4; input P: f32[b, e]\n"
      "A[b, e] = P[b, e] / sqrt(sum[e](P[b, e] * P[b, e]) + 0.5)\nB[] = sum[b, e](A[b, e] - 0.25)\noutput B";
  CHECK(streamed(text, {{"b", 2}, {"e", 2}}) == std::pair(true, true));
}

TEST_CASE("finer pieces do not come back after a loop that has taken all of them") {
  const auto* text =
      "diagram d; axis a = 5; axis b = 6; input P: f32[a, b]\n"
      "A[a, b] = P[a, b] - max[b](P[a, b])\nB[] = sum[a, b](A[a, b])\noutput B";
  CHECK(streamed(text, {{"a", 1}, {"b", 1}}) == std::pair(true, true));
  CHECK_FALSE(streamed(text, {{"a", 1}, {"b", 1}, {"a", 2}}).first);
}

TEST_CASE("a square of what is rounded is no rounded square") {
  const auto* text =
      "diagram d; axis a = 6; axis b = 4; input B: f16[a, b]\nC: f16[a, b] = exp(0.5 * B[a, b])\n"
      "D[] = sum[a, b]((C[a, b] - sum[a, b](C[a, b]) / (size(a) * size(b)))^2)\noutput D";
  CHECK(streamed(text, {{"b", 2}}, 1) == std::pair(true, true));
}

TEST_CASE("a state is repaired once for a piece, not for every piece of another axis in it") {
  const auto* text =
      "diagram d; axis a = 4; axis d = 6; input B: f32[a]; input P: f32[a, d]\n"
      "C[a] = exp(B[a] - max[a](B[a])) / sum[a](exp(B[a] - max[a](B[a])))\n"
      "D[] = max[a, d](C[a] * P[a, d] * C[a])\nE[] = sum[a, d](C[a] * P[a, d])\noutput D; output E";
  CHECK(streamed(text, {{"a", 2}, {"d", 2}}) == std::pair(true, true));
  CHECK(streamed(text, {{"a", 1}, {"d", 1}, {"d", 2}}, 1) == std::pair(true, true));
}
