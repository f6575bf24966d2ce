// Plans at sizes that are small enough to run.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "napkin/verify.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::test;

TEST_CASE("pieces shrink to several and a ragged one, sizes that are set stay", "[verify]") {
  const auto ran = run_cli({"verify", example("matmul"), "--target", "toy", "--set", "a=11", "--format", "json",
                            "--partition", "group a 4, c 40, stream b 8 at smem; group c 20, stream b 4 at reg"});
  CAPTURE(ran.out, ran.err);
  REQUIRE(ran.code == exit_done);
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["schema"] == "napkin.verification/1");
  CHECK(json["sizes"]["a"] == 11);
  CHECK(json["kernels"][0]["partition_text"] == "group a 4, c 5, stream b 6 at smem; group c 3, stream b 4 at reg");
  const std::int64_t b = json["sizes"]["b"], c = json["sizes"]["c"];
  CHECK(b > 2 * 6);
  CHECK(b % 6 != 0);
  CHECK(c > 2 * 5);
  CHECK(c % 5 != 0);
  CHECK(json["levels"].size() == 2);
  CHECK(json["levels"][0]["predicted_bytes"] == json["levels"][0]["counted_bytes"]);
  CHECK(json["ok"] == true);
}

TEST_CASE("indices keep inside their arrays when sizes shrink", "[verify]") {
  const std::string files[] = {
      "diagram convolution\naxis u = 500; axis i = 3; axis h = 2 * u + i\ninput X: f32[h]; input W: f32[i]\n"
      "Y[u] = sum[i](X[2 * u + i + 1] * W[i])\noutput Y\n",
      "diagram block_mask\naxis q = 640; axis x = 640; axis qb = 10; axis xb = 10\ninput S: f16[q, x]\n"
      "input M: bool[qb, xb] density 0.4\nP: f32[q] = max[x](where(M[q / 64, x / 64], S[q, x], -inf))\noutput P\n",
      "diagram reversed\naxis x = 300\ninput A: f32[x]\nB[x] = A[299 - x] - A[x]\noutput B\n",
  };
  for (const auto& text : files) {
    const auto ran = run_cli({"verify", "-", "--target", "toy"}, text);
    CAPTURE(text, ran.out, ran.err);
    CHECK(ran.code == exit_done);
  }
}

TEST_CASE("numbers are drawn until there is something to compare", "[verify][long]") {
  // One entry masks everything at sizes that small.
  const auto ran =
      run_cli({"verify", example("block_sparse"), "--target", "h100-sxm5", "--set", "q=1024", "--format", "json"});
  REQUIRE(ran.code == exit_done);
  CHECK(nlohmann::json::parse(ran.out)["outputs"][0]["allowed"] > 1e-4);  // as f16 rounds numbers
}
