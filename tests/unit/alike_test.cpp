// Reductions of what is the same at every position: they count the positions, in whatever form they are taken.
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

// Whether `verify` agrees with the plan of a diagram.
int verified(const std::string& text, const std::vector<std::string>& more) {
  const test::Folder folder;
  std::vector<std::string> words{"verify", folder.write("d.nap", "diagram d\n" + text)};
  words.insert(words.end(), more.begin(), more.end());
  return test::run_cli(words).code;
}

}  // namespace

TEST_CASE("positions in order carry as many of a value as there were positions", "[prefix][verify]") {
  const std::string count = "axis t = 48; axis x = 48\nY[t] = sum[x](where(x < t, 1, 0))\noutput Y\n";
  CHECK(verified(count, {"--target", "toy", "--chunks", "4"}) == exit_done);
  CHECK(verified(count, {"--target", "x86-64-avx2"}) == exit_done);
  const std::string same =
      "axis t = 6; axis x = 6; axis k = 5; input A: f32[k]; input C: f32[t]\n"
      "S[] = sum[k](A[k]); Y[t] = sum[x](where(x < t, S[], 0)) * C[t]\noutput Y\n";
  CHECK(verified(same, {"--target", "toy", "--partition", "stream t 1 at smem"}) == exit_done);
}

TEST_CASE("a mean of what lies before is that of its count", "[prefix][verify][long]") {
  const std::string mean =
      "axis t = 4096; axis x = 4096; input B: f32[x]\n"
      "Y[t] = sum[x](where(x <= t, B[x], 0)) / sum[x](where(x <= t, 1, 0))\noutput Y\n";
  for (const auto* machine : {"toy", "x86-64-avx2", "h100-sxm5"})
    CHECK(verified(mean, {"--target", machine}) == exit_done);
}

TEST_CASE("a sum of sums before is planned and right on four levels", "[prefix][verify]") {
  const std::string twice =
      "axis t = 48; axis x = 48; input a: f32[x]\n"
      "G[t] = sum[x](where(x <= t, a[x], 0)); Y[t] = sum[x](where(x < t, G[t], 0))\noutput Y\n";
  CHECK(verified(twice, {"--target", "x86-64-avx2"}) == exit_done);
}

TEST_CASE("a product in another order counts axes along which no factor varies", "[verify]") {
  const std::string axes = "axis a = 3; axis t = 3; axis f = 3; axis w = 3; axis b = 5; input U: f32[f]\n";
  CHECK(verified(axes + "R[a, t] = sum[f](sum[w, b](2) * U[f])\noutput R\n", {"--target", "toy"}) == exit_done);
  const std::string more =
      "axis a = 4; axis b = 2; axis c = 3; axis d = 3; axis e = 3; input C: f32[c, d]; input u: f32[b]\n";
  const std::string exponential = "R[c, d] = sum[e, b](sum[a](1) * u[b] * exp(C[c, d] * u[b]))\noutput R\n";
  for (const auto* machine : {"toy", "x86-64-avx2"})
    CHECK(verified(more + exponential, {"--target", machine}) == exit_done);
}
