// Plans with products in parts, and those of parts of fused kernels, against plans that the search has to beat.
#include <nlohmann/json.hpp>

#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::test;

namespace {

double seconds(const Diagram& diagram, const Hardware& hardware) { return *search(diagram, hardware, {}).cost.time_s; }

double seconds_of(const std::vector<std::string>& words) {
  const auto ran = run_cli(words);
  REQUIRE(ran.code == 0);
  return nlohmann::json::parse(ran.out)["totals"]["time_s"];
}

}  // namespace

TEST_CASE("a plan is never slower for products that matrix units may take in parts", "[search][long]") {
  const std::string sizes = "diagram d\naxis h = 4; axis q = 128; axis x = 192; axis d = 48; axis e = 64\n";
  const std::vector<std::string> all = {
      "input Q: f16[h, q, d]; input K: f16[h, x, d]; input V: f16[h, x, e]\n"
      "Y[h, q, e] = sum[x](exp(-sum[d](abs(Q[h, q, d] - K[h, x, d]))) * V[h, x, e])\noutput Y\n",
      "input Q: f16[q, d]; input K: f16[d, x]; input V: f16[x, e]\n"
      "Y[q, e] = sum[d, x](exp(Q[q, d] * K[d, x]) * V[x, e])\noutput Y\n",
      "input P: f32[h, q, x]; input V: bf16[h, x, e]\nY[h, q, e] = sum[x](P[h, q, x] * V[h, x, e])\noutput Y\n",
      "input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, e]\nS[q, x] = sum[d](Q[q, d] * K[x, d])\n"
      "Y[q, e] = sum[x](softmax[x](S[q, x]) * V[x, e])\noutput Y\n"};
  for (const auto* machine : {"h100-sxm5", "a100-sxm4-80", "rtx4090"})
    for (const auto& statements : all) {
      CAPTURE(machine, statements);
      const auto hardware = read_machine(machine);
      auto diagram = read_text(sizes + statements);
      const double either = seconds(diagram, hardware);
      diagram.in_parts = false;
      CHECK(either <= seconds(diagram, hardware) * (1 + 1e-9));
    }
}

TEST_CASE("fusing hides no division that would be faster", "[search]") {
  const std::vector<std::string> found = {
      "analyze", example("latent_attention"), "--target", "a100-sxm4-80", "-q", "--format", "json"};
  auto by_hand = found;
  by_hand.insert(by_hand.end(),
                 {"--partition",
                  "S: group h 64, x 320, stream x 32 at smem; group h 16 at reg | P: group h 1 at smem | "
                  "O: group x 2048, h 48, c 128, stream x 16 at smem; group c 16 at reg"});
  CHECK(seconds_of(found) <= seconds_of(by_hand) * (1 + 1e-9));
}
