// Tiles that a loop between the block and its step brings, labels that cut nothing, and plans that are given back.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "napkin/configure.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

struct Run {
  KernelCost cost;
  Configuration configuration;
};
Run run(const Kernel& kernel, const Hardware& hardware) {
  const auto cost = estimate(kernel, hardware, Model::machine);
  auto configuration = configure(kernel, cost, hardware, Model::machine);
  REQUIRE(configuration);
  REQUIRE(configuration->launch);
  return {cost, *configuration};
}

// Seconds that all that crosses into the cores takes at the most that the chip has for it.
double passing(const Run& run, const Hardware& hardware) {
  double fastest = hardware.levels[1].bandwidth->peak();
  for (const auto& cache : hardware.caches) fastest = std::max(fastest, cache.bandwidth->peak());
  return static_cast<double>(run.cost.levels[0].transfer_bytes) / fastest;
}

}  // namespace

TEST_CASE("a tile that comes again between steps takes its share of the way in", "[configure]") {
  const auto diagram = read_text(
      "diagram windows\naxis a = 4096; axis b = 2; axis c = 4096; axis e = 4096\n"
      "input A: f16[a, b, e]; input B: f16[e, c]\nC: f16[a, c] = sum[b, e](A[a, b, e] * B[e, c])\noutput C\n");
  const auto hardware = read_machine("h100-sxm5");
  const auto made = run(testing::planned(diagram, "group a 64, c 128, stream e 64, b 1 at smem", hardware), hardware);
  double a = 0, b = 0;
  for (const auto& column : made.configuration.clocks) {
    if (column.on == Resource::copy && column.column == "A") a = column.operations;
    if (column.on == Resource::copy && column.column == "B") b = column.operations;
  }
  CHECK(a == 64 * 64 * 2);
  CHECK(b == 64 * 128 * 2 / 2);  // in every other step
}

TEST_CASE("no launch is shorter than what it moves takes", "[configure][law]") {
  const auto diagram = read_example("matmul.nap");
  for (const auto* machine : {"h100-sxm5", "a100-sxm4-80", "rtx4090"}) {
    const auto hardware = read_machine(machine);
    for (const std::int64_t rows : {64, 128, 256})
      for (const std::int64_t piece : {64, 128}) {
        const auto streams = piece >= rows ? "b 64" : fmt::format("a {}, b 64", piece);
        const auto words = fmt::format("group a {}, c 64, stream {} at smem", rows, streams);
        CAPTURE(machine, words);
        const auto made = run(testing::planned(diagram, words, hardware), hardware);
        // First tiles and outputs of one block are hidden by another without a queue: up to a hundredth.
        CHECK(made.configuration.launch->time_s > 0.99 * passing(made, hardware));
      }
  }
}

TEST_CASE("a label that cuts nothing changes no launch", "[configure]") {
  const auto diagram = read_example("matmul.nap");
  const auto hardware = read_machine("h100-sxm5");
  const auto launched = [&](const std::string& words) {
    return run(testing::planned(diagram, words, hardware), hardware).configuration.launch->time_s;
  };
  const std::string words = "group a 64, c 128, stream b 64";
  CHECK(launched(words + ", a 64 at smem") == launched(words + " at smem"));
}

TEST_CASE("a plan that is given back is that plan", "[cli][search][long]") {
  const auto analyzed = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "analyze");
    arguments.insert(arguments.end(), {"--format", "json"});
    const auto ran = test::run_cli(arguments);
    REQUIRE(ran.code == exit_done);
    return nlohmann::json::parse(ran.out)["kernels"];
  };
  for (const auto* machine : {"h100-sxm5", "a100-sxm4-80"})
    for (const auto* name : {"matmul", "alibi", "convolution", "softcap", "depthwise_convolution", "softmax"}) {
      CAPTURE(machine, name);
      const auto found = analyzed({test::example(name), "--target", machine});
      if (found.size() > 1) continue;
      const auto text = found[0]["partition_text"].get<std::string>();
      const auto again = analyzed({test::example(name), "--target", machine, "--partition", text});
      CHECK(again[0]["partition_text"] == text);
      CHECK(again[0]["time_s"] == found[0]["time_s"]);
      for (const auto& level : found[0]["levels"])
        if (level["time_s"].is_number()) CHECK(level["time_s"].get<double>() <= found[0]["time_s"].get<double>());
    }
}
