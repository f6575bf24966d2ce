// Every file in examples/: it opens with a comment, is canonical, derives as it says, and goes through every command.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "napkin/derive.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

struct Example {
  std::string name;
  std::string wire, state;         // what the wire that matters carries; no state where it is refused
  std::vector<std::string> sizes;  // small ones
};

const std::vector<Example>& known() {
  static const std::vector<Example> all = {
      {"alibi", "x", "m l O", {"h=2", "q=24", "x=40", "d=8"}},
      {"attention", "x", "m l O", {"q=24", "x=40", "d=8"}},
      {"attention_backward", "x", "dQ", {"h=2", "q=8", "x=12", "d=4"}},
      {"attention_gradient", "x", "dQ", {"q=8", "x=12", "d=4"}},
      {"average_pooling", "i", "Y", {"n=2", "c=8", "u=6", "v=5"}},
      {"block_scales", "k", "C", {"m=16", "j=24", "k=256"}},
      {"block_sparse", "x", "m l O", {"q=64", "x=128", "d=8"}},
      {"causal", "x", "m l O", {"q=24", "x=40", "d=8"}},
      {"causal_linear_attention", "x", "Y", {"h=2", "t=24", "x=24", "d=8", "e=8"}},
      {"chained_matmul", "c", "Y", {"a=20", "b=24", "c=8", "d=24"}},
      {"convolution", "c", "Y", {"n=2", "c=8", "o=4", "u=3", "v=3"}},
      {"convolution_gradient", "n", "dW", {"n=2", "c=8", "o=4", "u=3", "v=3"}},
      {"cross_entropy", "v", "m L l", {"t=16", "c=24", "v=50"}},
      {"cumulative_sum", "x", "Y", {"r=4", "t=24", "x=24"}},
      {"decode", "x", "m l O", {"k=2", "r=4", "x=256", "d=8"}},
      {"depthwise_convolution", "i", "Y", {"n=2", "c=8", "u=6", "v=5", "i=3", "j=3"}},
      {"gated_linear_attention", "x", "Y", {"h=2", "t=24", "x=24", "s=24", "d=8", "e=8"}},
      {"gated_mlp", "f", "Y", {"t=12", "c=16", "f=20", "o=8"}},
      {"grouped_query", "x", "m l O", {"k=2", "r=2", "q=12", "x=40", "d=8"}},
      {"latent_attention", "x", "m l2 O", {"h=4", "x=64", "c=16", "p=8"}},
      {"layernorm_projection", "c", "mean count l l2 l3 Y", {"t=16", "c=40", "o=24"}},
      {"linear_attention", "x", "A Z", {"h=2", "q=24", "x=40", "e=8", "d=8"}},
      {"logsumexp", "x", "m L", {"r=16", "x=100"}},
      {"low_rank_adapter", "c", "Z U", {"t=16", "c=40", "o=24", "r=4"}},
      {"matmul", "b", "C", {"a=24", "b=40", "c=20"}},
      {"matmul_bias_relu", "b", "Z", {"a=24", "b=40", "c=20"}},
      {"max_pooling", "i", "Y", {"n=2", "c=8", "u=6", "v=5"}},
      {"moving_average", "x", "Y", {"r=4", "t=24", "x=24"}},
      {"mx_product", "k", "C", {"m=16", "j=24", "k=96"}},
      {"multi_head", "x", "m l O", {"b=2", "h=2", "q=12", "x=40", "d=8"}},
      {"rbf_attention", "x", "m l O", {"q=24", "x=40", "d=8"}},
      {"retention", "x", "Y", {"h=2", "t=24", "x=24", "d=8", "e=8"}},
      {"rmsnorm_projection", "c", "l Y", {"t=16", "c=40", "o=24"}},
      {"sliding_window", "x", "m l O", {"q=24", "x=40", "d=8"}},
      {"softcap", "x", "m l O", {"h=2", "q=24", "x=40", "d=8"}},
      {"softmax", "x", "", {"r=16", "x=16"}},
      {"spherical", "x", "l O", {"q=24", "x=40", "d=8"}},
      {"state_space", "x", "Y", {"h=2", "t=24", "x=24", "s=24", "d=8", "e=8"}},
      {"swiglu_mlp", "f", "Y", {"t=12", "c=16", "f=20"}},
      {"variance", "x", "mean count l V", {"r=16", "x=100"}},
  };
  return all;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(NAPKIN_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".nap") all.push_back(entry.path().stem().string());
  std::ranges::sort(all);
  return all;
}

std::vector<std::string> with_sizes(std::vector<std::string> args, const Example& example) {
  for (const auto& size : example.sizes) args.insert(args.end(), {"--set", size});
  return args;
}

}  // namespace

TEST_CASE("every example opens with a comment, is canonical and derives") {
  CHECK(names().size() >= 30);
  for (const auto& name : names()) {
    CAPTURE(name);
    CHECK(read_file(test::example(name)).starts_with("# "));
    CHECK(test::run_cli({"fmt", "--check", test::example(name)}).code == exit_done);
    CHECK(test::run_cli({"derive", test::example(name)}).code == exit_done);
  }
  for (const auto& example : known()) {
    CAPTURE(example.name);
    CHECK(std::ranges::count(names(), example.name) == 1);
  }
}

TEST_CASE("whole numbers that are only compared make nothing wide") {
  const auto diagram = read_example("cross_entropy.nap");
  const std::vector<StatementId> all = {{0}, {1}};
  const auto derivation = derive(diagram, all);
  const auto& stream = std::get<Streamable>(derivation.find(*find_wire(diagram, "v"))->stream);
  for (const auto& carried : stream.state) CHECK(stream.scratch.at(carried.array).type == Datatype::f32);
}

TEST_CASE("what an example carries is what one pass needs") {
  for (const auto& example : known()) {
    CAPTURE(example.name, example.wire);
    const auto diagram = read_example(example.name + ".nap");
    std::vector<StatementId> all;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
    const auto derivation = derive(diagram, all);
    const auto& verdict = *derivation.find(*find_wire(diagram, example.wire));
    const auto* stream = std::get_if<Streamable>(&verdict.stream);
    std::string state;
    if (stream)
      for (const auto& carried : stream->state)
        state += (state.empty() ? "" : " ") + stream->scratch.at(carried.array).name;
    CHECK(state == example.state);
    CHECK(verdict.passes == (example.state.empty() ? 2 : 1));
  }
}

namespace {

// A plan writes each output and reads of each input, and no level holds more than it has room for.
void check_plan(const Diagram& diagram, const nlohmann::json& plan) {
  std::map<std::string, double> read, written;
  for (const auto& kernel : plan.at("kernels")) {
    for (const auto& level : kernel.at("levels"))
      if (const auto& room = level.at("capacity_bytes"); !room.is_null()) CHECK(level.at("memory_bytes") <= room);
    for (const auto& array : kernel.at("levels").at(0).at("arrays")) {
      read[array.at("array")] += array.at("times_read").get<double>();
      written[array.at("array")] += array.at("times_written").get<double>();
    }
  }
  for (const auto id : diagram.outputs) CHECK(written[diagram.at(id).name] >= 1);
  for (const auto id : diagram.inputs) CHECK(read[diagram.at(id).name] > 0);
}

std::size_t times(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

void go_through_every_command(const Example& example) {
  const test::Folder folder;
  const auto file = test::example(example.name);
  const auto diagram = read_example(example.name + ".nap");
  nlohmann::json plan;
  for (const std::string target : {"toy", "two-level", "h100-sxm5"}) {
    const auto ran = test::run_cli(with_sizes({"analyze", file, "--target", target, "--format", "json"}, example));
    CAPTURE(example.name, target, ran.err);
    REQUIRE(ran.code == exit_done);
    plan = nlohmann::json::parse(ran.out);
    check_plan(diagram, plan);
  }
  const auto pseudocode = test::run_cli(with_sizes({"pseudocode", file, "--target", "h100-sxm5"}, example));
  CAPTURE(example.name, pseudocode.err);
  CHECK(pseudocode.code == exit_done);
  CHECK(times("\n" + pseudocode.out, "\nkernel ") == plan.at("kernels").size());
  for (const auto id : diagram.outputs) CHECK(times(pseudocode.out, "save " + diagram.at(id).name + " from ") == 1);
  const auto emitted =
      test::run_cli(with_sizes({"emit", "cuda", file, "--target", "h100-sxm5", "-o", folder / example.name}, example));
  CAPTURE(emitted.err);
  CHECK(emitted.code == exit_done);
  const auto text = read_file(folder / (example.name + "/" + example.name + ".cu"));
  CHECK(times(text, fmt::format("constexpr int kernel_count = {};", plan.at("kernels").size())) == 1);
}

// What the sanitizers watch go through every command, too.
const std::vector<std::string> quick = {"cumulative_sum", "matmul_bias_relu", "max_pooling", "sliding_window",
                                        "softmax"};
bool is_quick(const Example& example) { return std::ranges::count(quick, example.name) > 0; }

}  // namespace

TEST_CASE("quick examples go through every command on every kind of machine") {
  CHECK(static_cast<std::size_t>(std::ranges::count_if(known(), is_quick)) == quick.size());
  for (const auto& example : known())
    if (is_quick(example)) go_through_every_command(example);
}

TEST_CASE("every example goes through every command on every kind of machine", "[long]") {
  for (const auto& example : known())
    if (!is_quick(example)) go_through_every_command(example);
}
