// Weights that fade with distance, reduced in chunks and in order: a state is relative to the position that has been
// reached, whichever part of a piece reads it.
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

test::Ran verified(const std::string& text, std::vector<std::string> more) {
  more.insert(more.begin(), {"verify", "-", "--target", "two-level", "--set-target", "M=100000"});
  return test::run_cli(more, text);
}

// A decay in chunks of 3 positions, written by hand: M is the greatest exponent of a chunk, B of all chunks before c.
std::string in_order(const std::string& outputs) {
  return R"(diagram fading
axis r = 2; axis c = 5; axis w = 3; axis d = 2; axis e = 3; axis b = 5; axis u = 4
input g: f32[r]; input K: f32[r, c, w, d]; input V: f32[r, c, w, e]; input Q: f32[r, c, u, d]
M[r] = max[w](g[r] * (3 - w))
B[r, c] = max[b](where(b < c, M[r] + g[r] * (3 * (c - b - 1)), -inf))
S[r, c, d, e] = sum[w](K[r, c, w, d] * V[r, c, w, e] * exp(g[r] * (3 - w) - M[r]))
P[r, c, d, e] = sum[b](where(b < c, S[r, b, d, e] * exp(M[r] + g[r] * (3 * (c - b - 1)) - B[r, c]), 0))
Y[r, c, u, e] = where(c > 0, sum[d](Q[r, c, u, d] * P[r, c, d, e]) * exp(g[r] * u + B[r, c]), 0)
)" + outputs;
}

}  // namespace

TEST_CASE("what fades is right in every order of loops around chunks that are taken in order", "[prefix][verify]") {
  for (const std::string partition :
       {"stream c 1 at low", "stream c 1 at low; stream w 1 at low", "group r 1, stream c 1, e 1, u 2 at low",
        "stream c 1 at low; stream d 1 at low", "group e 1 at low; stream c 1 at low; stream u 1 at low"}) {
    const auto ran = verified(in_order("output Y"), {"--partition", partition});
    CAPTURE(partition, ran.out, ran.err);
    CHECK(ran.code == exit_done);
  }
}

TEST_CASE("what every chunk reads is there before the first, though it is needed in the end", "[prefix][verify]") {
  const auto ran = verified(in_order("output M; output B; output Y"), {"--partition", "stream c 1, w 1 at low"});
  CAPTURE(ran.out, ran.err);
  CHECK(ran.code == exit_done);
}

TEST_CASE("what fades into a shorter last chunk is right, forwards and back", "[prefix][verify][long]") {
  for (const auto& [before, chunk] :
       {std::pair<std::string, std::string>{"not (x > t)", "7"}, {"x < t", "5"}, {"x >= t", "5"}, {"x >= t", "4"}}) {
    const auto* distance = before == "x >= t" ? "(x - t)" : "(t - x)";
    const auto text =
        "diagram fading\naxis t = 12; axis x = 12; axis r = 2\ninput A: f32[r, x]; input w: f32[r]\n"
        "Y: f32[r, t] = sum[x](where(" +
        before + ", A[r, x] * exp(w[r] * " + distance + "), 0))\noutput Y\n";
    const auto ran = verified(text, {"--chunks", chunk});
    CAPTURE(before, chunk, ran.out, ran.err);
    CHECK(ran.code == exit_done);
  }
}
