// Plans whose states leave a divided kernel, masks inside of products, and axes that several kernels divide: found by
// hand, verified through the command line.
#include "support/catch.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

Ran verified(const std::string& text, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"verify", "-", "--target", "h100-sxm5"});
  return run_cli(more, text);
}

}  // namespace

TEST_CASE("a maximum that leaves a divided kernel is written", "[divide][verify]") {
  const std::string head = "diagram d\naxis x = 512\ninput S: f32[x]\nM[] = max[x](S[x])\n";
  const std::string sum = head + "L[] = sum[x](exp(S[x] - M[]))\noutput M\noutput L\n";
  const auto left = verified(sum, {"--partition", "group x 128 at smem"});
  CAPTURE(left.out, left.err);
  CHECK(left.code == 0);
  const std::string read_later = head +
                                 "input G: f32[]\nC[] = sum[x](where(S[x] == M[], 1, 0))\n"
                                 "D[x] = where(S[x] == M[], G[] / C[], 0)\noutput D\n";
  const auto read = verified(read_later, {"--partition", "M, C: group x 128 at smem | D:"});
  CAPTURE(read.out, read.err);
  CHECK(read.code == 0);
  const Folder folder;
  const auto emitted = run_cli(
      {"emit", "cpp", "-", "--target", "h100-sxm5", "--partition", "group x 128 at smem", "-o", folder / "made"}, sum);
  REQUIRE(emitted.code == 0);
  CHECK(text_of(folder / "made/d.h").find("of_the_whole") == std::string::npos);
}

TEST_CASE("a mask inside of a product leaves it to lanes", "[divide][verify]") {
  for (const std::string type : {"", ": f16"}) {
    const auto ran = verified(
        "diagram d\naxis q = 64; axis x = 64; axis d = 16; axis e = 16\ninput Q: f16[q, d]\n"
        "input V: f16[x, e]\ninput G: f16[q, e]\nA" +
        type +
        "[q, x] = sum[e](V[x, e] * G[q, e])\n"
        "Y[x, d] = sum[q](where(x <= q, Q[q, d] * A[q, x], 0))\noutput Y\n");
    CAPTURE(type, ran.out, ran.err);
    CHECK(ran.code == 0);
  }
}

// The gradient of an attention that has its maximum as an output.
constexpr const char* gradient = R"(diagram divided_twice
axis h = 8
axis x = 50001
axis d = 64
input Q: f32[h, d]
input K: f16[x, h, d]
input V: f16[x, h, d]
input dO: f32[h, d]
input dM: f32[h]
S[h, x] = sum[d](Q[h, d] * K[x, h, d])
M[h]    = max[x](S[h, x])
P[h, x] = softmax[x](S[h, x])
O[h, d] = sum[x](P[h, x] * V[x, h, d])
dP[h, x]         = sum[d](V[x, h, d] * dO[h, d])
count[h]         = sum[x](where(S[h, x] == M[h], 1, 0))
O_dO[h]          = sum[d](dO[h, d] * O[h, d])
dS[h, x]         = P[h, x] * dP[h, x] + where(S[h, x] == M[h], dM[h] / count[h], 0) - P[h, x] * O_dO[h]
dQ[h, d]         = sum[x](K[x, h, d] * dS[h, x])
dK: f16[x, h, d] = Q[h, d] * dS[h, x]
dV: f16[x, h, d] = P[h, x] * dO[h, d]
output dQ
output dK
output dV
)";

TEST_CASE("an axis that kernels divide in different lengths has parts of one length where it is verified",
          "[divide][long]") {
  const auto ran = verified(gradient);
  CAPTURE(ran.out, ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.out.find("x_part_ ") != std::string::npos);  // two divisions
}
