// Cuts into kernels where the answer is known, and what fusing saved.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "napkin/search.hpp"
#include "search/cuts/cuts.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

std::vector<std::vector<std::string>> names(const FoundPlan& found) {
  std::vector<std::vector<std::string>> all;
  for (const auto& kernel : found.plan.kernels) {
    all.emplace_back();
    for (const auto id : kernel.derivation->statements)
      all.back().push_back(kernel.derivation->scratch.at(kernel.derivation->scratch.at(id).output).name);
  }
  return all;
}

// C reads A and D reads B: what belongs together does not stand side by side.
constexpr auto crossed = R"(diagram crossed
axis a = 64; axis b = 4096
input X: f32[a, b]
input Z: f32[b, a]
A[a, b] = exp(X[a, b])
B[b, a] = exp(Z[b, a])
C[a, b] = A[a, b] * 2 + A[a, b]
D[b, a] = B[b, a] * 3 + B[b, a]
output C
output D
)";

}  // namespace

TEST_CASE("every legal cut is a path, and nothing else is") {
  // Of a diamond: the chains of its finished sets.
  const auto diamond = read_text(
      "diagram d; axis a = 4; input X: f32[a]; A[a] = X[a] * 2; B[a] = A[a] + 1; C[a] = A[a] + 2; D[a] = B[a] * C[a]\n"
      "output D");
  const auto cuts = every_cut(diamond, needed_statements(diamond), 1000);
  REQUIRE(cuts);
  std::size_t plain = 0;
  for (const auto& cut : cuts->cuts) plain += cut.computed.count() == cut.saved.count();
  CHECK(plain > 0);
  // A and D without B and C would wait for itself.
  CHECK(std::ranges::none_of(cuts->cuts, [](const Cut& cut) { return cut.computed.to_ulong() == 0b1001; }));
  // A recomputed by both of its readers.
  CHECK(std::ranges::count_if(cuts->cuts, [](const Cut& cut) {
          return cut.computed.to_ulong() == 0b0011 && cut.saved.to_ulong() == 0b0010;
        }) == 1);
  CHECK_FALSE(every_cut(diamond, needed_statements(diamond), 5));
}

TEST_CASE("only what contracts nothing or gives more than it takes may be recomputed") {
  const auto diagram = read_text(
      "diagram d; axis a = 4; axis b = 4; axis c = 4; input X: f32[a, b]; input W: f32[b, c]; input v: f32[c]\n"
      "A[a, b] = softmax[b](X[a, b]); B[a] = sum[b](X[a, b] * X[a, b]); C[a, c] = sum[b](X[a, b] * W[b, c])\n"
      "D[a, c] = B[a] + v[c]; E[a, c] = sum[b]((X[a, b] - W[b, c])^2); F[a, c] = A[a, c] * C[a, c] + D[a, c] * E[a, "
      "c]\n"
      "output F");
  std::vector<bool> may;
  for (const auto& statement : diagram.statements) may.push_back(may_be_recomputed(diagram, statement));
  CHECK(may == std::vector<bool>{true, true, false, true, false, true});
  const auto narrow = read_text(
      "diagram d; axis a = 64; axis b = 8; axis c = 64; input X: f32[a, b]; input W: f32[b, c]\n"
      "A[a, c] = sum[b](X[a, b] * W[b, c]); B[a] = sum[c](A[a, c] * A[a, c]); output B");
  CHECK(may_be_recomputed(narrow, narrow.statements.front()));
}

TEST_CASE("kernels need not stand side by side in the file") {
  const auto found = search(read_text(crossed), read_machine("h100-sxm5"), {});
  CHECK(found.optimal);
  for (const auto& kernel : names(found)) {
    const bool first = std::ranges::count(kernel, "A") > 0, second = std::ranges::count(kernel, "B") > 0;
    CHECK((std::ranges::count(kernel, "C") > 0) == first);
    CHECK((std::ranges::count(kernel, "D") > 0) == second);
  }
}

TEST_CASE("what is cheap is computed again where that moves less") {
  // Two products of A: together they would have room for smaller pieces only, and saving A moves it once more.
  const auto diagram = read_text(
      "diagram d; axis a = 64; axis b = 64; axis c = 64; input X: f32[a, b]; input V: f32[b, c]; input W: f32[b, c]\n"
      "A[a, b] = exp(X[a, b]); B[a, c] = sum[b](A[a, b] * V[b, c]); C[a, c] = sum[b](A[a, b] * W[b, c])\n"
      "output B; output C");
  Goal goal;
  goal.objective = Objective::transfers;
  const auto found = search(diagram, read_machine("two-level", {{"M", "150"}}), goal);
  CHECK(found.optimal);
  auto kernels = names(found);
  std::ranges::sort(kernels);
  CHECK(kernels == std::vector<std::vector<std::string>>{{"A", "B"}, {"A", "C"}});
  REQUIRE(found.saved.size() == 2);
  REQUIRE(found.apart);
  std::int64_t apart = 0;
  for (const auto& kernel : found.apart->kernels) apart += kernel.levels.front().transfer_bytes;
  CHECK(found.saved[0].bytes_apart + found.saved[1].bytes_apart == apart);
  CHECK(found.saved[0].bytes + found.saved[1].bytes < apart);
}

TEST_CASE("the gradients of attention leave nothing as large as the scores in gmem") {
  const auto diagram = read_example("attention_backward.nap");
  const auto found = search(diagram, read_machine("h100-sxm5"), {});
  CHECK(found.optimal);
  CHECK(found.plan.kernels.size() == 2);
  for (const auto& kernel : found.plan.kernels)
    for (const auto saved : kernel.derivation->outputs) {
      std::vector<std::string> axes;
      const auto& scratch = kernel.derivation->scratch;
      for (const auto wire : scratch.at(saved).wires)
        axes.push_back(scratch.axes.at(scratch.wires.at(wire.index).axis.index).name);
      CHECK_FALSE((std::ranges::count(axes, "q") > 0 && std::ranges::count(axes, "x") > 0));
    }
}

TEST_CASE("what fusing saved is told array by array") {
  const auto diagram = read_example("attention.nap");
  const auto found = search(diagram, read_machine("h100-sxm5"), {});
  CHECK(found.optimal);
  REQUIRE(found.saved.size() == 1);
  REQUIRE(found.apart);
  const auto& saved = found.saved.front();
  std::vector<std::string> arrays;
  for (const auto& array : saved.arrays) {
    arrays.push_back(array.array);
    CHECK(array.bytes >= 2 * 2 * 4096 * 4096);  // written and read at least once
  }
  CHECK(arrays == std::vector<std::string>{"S", "P"});
  std::int64_t apart = 0;
  for (const auto& kernel : found.apart->kernels) apart += kernel.levels.front().transfer_bytes;
  CHECK(saved.bytes_apart == apart);
  std::int64_t moved = 0;  // by the kernel of the parts and the one that merges them
  for (const auto& kernel : found.cost.kernels) moved += kernel.levels.front().transfer_bytes;
  CHECK(saved.bytes == moved);
  CHECK(saved.time_apart_s == found.apart->time_s);
}

TEST_CASE("what a piece reads is computed before it, also where the piece is written out") {
  const auto diagram = read_text(
      "diagram d; axis a = 4; axis b = 3; axis c = 5; input H: f32[a, b]; input P: f32[a, c]\n"
      "A[a] = sum[b](H[a, b]); B[a, c] = exp(P[a, c] * A[a]); C[] = max[a, c](B[a, c]); output C");
  CHECK_FALSE(search(diagram, read_machine("toy"), {}).plan.kernels.empty());
}

TEST_CASE("one statement saves nothing") {
  const auto found = search(read_example("softmax.nap"), read_machine("two-level"), {});
  CHECK(found.saved.empty());
  CHECK_FALSE(found.apart);
}

TEST_CASE("the report says what fusing saved, and of one statement nothing", "[long]") {
  const auto report = [](const std::string& name, const std::string& format) {
    return test::run_cli({"analyze", test::example(name), "--target", "h100-sxm5", "--details", "--format", format})
        .out;
  };
  const auto json = nlohmann::json::parse(report("multi_head", "json"));
  CHECK(json["search"]["optimal"] == true);
  CHECK(json["search"]["gap"].is_null());
  CHECK(json["search"]["cuts"] == 6);
  const auto& saved = json["saved"];
  REQUIRE(saved["kernels"].size() == 1);
  const auto& kernel = saved["kernels"][0];
  CHECK(kernel["statements"] == nlohmann::json::array({"S", "P", "O"}));
  CHECK(kernel["arrays"][0]["array"] == "S");
  CHECK(kernel["transfer_bytes"] == json["totals"]["transfer_bytes"]["gmem"]);
  CHECK(kernel["saved_bytes"] ==
        kernel["apart_transfer_bytes"].get<std::int64_t>() - kernel["transfer_bytes"].get<std::int64_t>());
  CHECK(saved["saved_bytes"] == kernel["saved_bytes"]);
  CHECK(saved["time_s"] == json["totals"]["time_s"]);
  for (const std::string format : {"text", "markdown"}) {
    CHECK(report("attention", format).find("What fusing saves") != std::string::npos);
    CHECK(report("softmax", format).find("the whole plan") == std::string::npos);
  }
  CHECK(nlohmann::json::parse(report("softmax", "json"))["saved"].is_null());
}

TEST_CASE("beyond what can be looked at the report says how far off it may be") {
  std::string text = "diagram long; axis a = 64; axis b = 64; input X: f32[a, b]\nS0[a, b] = exp(X[a, b])\n";
  for (int i = 1; i < 24; ++i) text += fmt::format("S{}[a, b] = exp(S{}[a, b])\n", i, i - 1);
  const auto found = search(read_text(text + "output S23\n"), read_machine("two-level", {{"M", "64"}}), {});
  CHECK_FALSE(found.optimal);
  REQUIRE_FALSE(found.plan.kernels.empty());
  CHECK(found.space.find("in the order of the file") != std::string::npos);
}

TEST_CASE("a transformer block is cut the best way there is", "[long]") {
  const auto found = search(read_example("transformer_block.nap"), read_machine("h100-sxm5"), {});
  CHECK(found.optimal);
  CHECK_FALSE(found.gap);
  REQUIRE(found.apart);
  CHECK(found.saved.size() >= 2);
  CHECK(*found.cost.time_s < *found.apart->time_s);
  const auto kernels = names(found);
  CHECK(std::ranges::count(kernels, std::vector<std::string>{"S", "P", "A"}) == 1);
}

TEST_CASE("a decoding step is divided so that every core has work, a prefill is not", "[long]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto decode = search(read_example("decode.nap"), hardware, {});
  REQUIRE(decode.divisions.size() == 1);
  CHECK(decode.divisions[0].axis == "x");
  CHECK(decode.cost.kernels[0].levels[0].groups >= 132);
  CHECK(decode.plan.kernels.size() == 2);
  CHECK(*decode.cost.time_s < decode.divisions[0].time_undivided_s);
  CHECK(search(read_example("grouped_query.nap"), hardware, {}).divisions.empty());
  CHECK(search(read_example("multi_head.nap"), hardware, {}).divisions.empty());
}
