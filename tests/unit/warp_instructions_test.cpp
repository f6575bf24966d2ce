// Single warps compute addresses and copy beside their products: an iteration is no shorter than that takes, and takes
// longer the less is copied at a time.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

struct Iteration {
  double seconds = 0, blocks = 0;
};
// The lower bound of an iteration of C = A B with n columns, in the overlap that is chosen.
Iteration iteration(std::int64_t n, const std::string& partition, const std::string& target = "a100-sxm4-80") {
  const auto ran =
      test::run_cli({"analyze", "-", "--target", target, "--partition", partition, "--format", "json", "-q"},
                    fmt::format("diagram product\naxis m = 4096; axis n = {}; axis k = 4096\n"
                                "input A: f16[m, k]; input B: f16[k, n]\n"
                                "C: f16[m, n] = sum[k](A[m, k] * B[k, n])\noutput C\n",
                                n));
  INFO(ran.err);
  REQUIRE(ran.code == exit_done);
  const auto made = nlohmann::json::parse(ran.out)["kernels"][0]["configuration"];
  const auto& all = made["pipelinings"];
  const auto chosen = std::ranges::find(all, made["chosen"], [](const auto& one) { return one["overlap"]; });
  REQUIRE(chosen != all.end());
  return {(*chosen)["latency_s"], (*chosen)["occupancy"]["as_allocated"]["blocks"]};
}

}  // namespace

TEST_CASE("an iteration of one warp takes at least its instructions") {
  // Two tiles of 16 x 64 and 64 x 16: 98 instructions, and 4.5 for each of 8 copies of a lane, 2.3 clocks apart.
  const auto one = iteration(4096, "group m 16, n 16, stream k 64 at smem");
  const double clocks = one.seconds * one.blocks * 1.41e9;
  CHECK(clocks > (98 + 4.5 * 8) * 2.3);
  CHECK(clocks < 4 * (98 + 4.5 * 8) * 2.3);
}

TEST_CASE("an iteration takes longer if less is copied at a time") {
  const std::string tiles = "group m 32, n 64, stream k 64 at smem; group m 16, n 64 at reg";
  const auto by_16 = iteration(4096, tiles), by_8 = iteration(4100, tiles), by_4 = iteration(4098, tiles),
             by_2 = iteration(4097, tiles);
  CAPTURE(by_16.seconds, by_8.seconds, by_4.seconds, by_2.seconds);
  CHECK(by_16.seconds * by_16.blocks < by_8.seconds * by_8.blocks);
  CHECK(by_8.seconds * by_8.blocks < by_4.seconds * by_4.blocks);
  CHECK(by_4.seconds * by_4.blocks < by_2.seconds * by_2.blocks);
}

TEST_CASE("a number without axes is read beside a product") {
  for (const auto* target : {"h100-sxm5", "a100-sxm4-80", "rtx4090", "x86-64-avx2"})
    for (const auto* input : {"input s: f32[]", "s[] = max[a, k](abs(A[a, k]))"}) {
      CAPTURE(target, input);
      const auto ran = test::run_cli({"analyze", "-", "--target", target, "-q"},
                                     fmt::format("diagram scaled\naxis a = 1024; axis b = 1024; axis k = 1024\n"
                                                 "input A: f16[a, k]; input B: f16[k, b]\n{}\n"
                                                 "C: f16[a, b] = sum[k](A[a, k] * B[k, b]) * s[]\noutput C\n",
                                                 input));
      CHECK(ran.code == exit_done);
    }
}
