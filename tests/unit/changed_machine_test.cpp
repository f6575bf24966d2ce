// What the theory says of another machine, or of narrower numbers, against what the search then finds: terms of H* fall
// as M^-beta, with beta 1/2 for a large matrix product and 1 for attention.
#include <cmath>
#include <map>

#include "napkin/configure.hpp"
#include "napkin/search.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"

using namespace napkin;

namespace {

// One memory in front of another, in bytes.
Hardware one_memory(const std::string& kilobytes) {
  const auto loaded = load_text(
      "name: pair\ndescription: one memory\nlevels:\n  far:\n    unit: machine\n  near:\n    unit: block\n"
      "    capacity: " +
      kilobytes + " KiB assumed MADE\n    bandwidth: 3.35 TB/s assumed MADE\nsources:\n  MADE: made up\n");
  REQUIRE(loaded.text.empty());
  return loaded.hardware;
}

KernelCost found(const Diagram& diagram, const Hardware& hardware) {
  const Goal goal{.objective = Objective::transfers, .model = Model::ideal, .fixed = {}};
  const auto all = search(testing::derived(diagram), hardware, goal);
  REQUIRE(all.best.size() == 1);
  return all.best.front().cost;
}

struct Example {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  double beta;
};

// Eight-bit inputs, each with a scale for every block of 64 positions. The one that is rounded with P is at most 1.
const char* scaled =
    "diagram attention_f8\n"
    "axis q  = 4096\n"
    "axis x  = 4096\n"
    "axis d  = 128\n"
    "axis qb = 64\n"
    "axis xb = 64\n"
    "input Q: f8e4m3[q, d]\n"
    "input K: f8e4m3[x, d]\n"
    "input V: f8e4m3[x, d]\n"
    "input Qs: f32[qb]\n"
    "input Ks: f32[xb]\n"
    "input Vs: f32[xb]\n"
    "S[q, x]      = sum[d](Q[q, d] * K[x, d]) * Qs[q / 64] * Ks[x / 64] / sqrt(size(d))\n"
    "P[q, x]      = softmax[x](S[q, x])\n"
    "O: f16[q, d] = sum[x](f8e4m3(P[q, x] * sigmoid(Vs[x / 64])) * V[x, d])\n"
    "output O\n";

const Example examples[] = {
    {"attention.nap", {{"q", 1 << 17}, {"x", 1 << 17}}, 1},
    {"matmul.nap", {{"a", 1 << 15}, {"b", 1 << 15}, {"c", 1 << 15}}, 0.5},
};

// Attention as the paper splits it, with as many queries as fit.
std::int64_t moved_by_attention(const Diagram& diagram, const Hardware& hardware) {
  std::int64_t fits = 1, too_many = 1 << 14;
  const auto cost = [&](std::int64_t queries) {
    const auto words = "group q " + std::to_string(queries) + ", stream x 1 at near";
    return estimate(testing::planned(diagram, words, hardware), hardware, Model::ideal);
  };
  while (too_many - fits > 1) {
    const auto middle = (fits + too_many) / 2;
    (cost(middle).overruns.empty() ? fits : too_many) = middle;
  }
  return cost(fits).levels[0].transfer_bytes;
}
// What a large matrix product moves in the best partition that there is, attention in the paper's.
std::int64_t least_moved(const std::string& name, const Diagram& diagram, const Hardware& hardware) {
  return name == "attention.nap" ? moved_by_attention(diagram, hardware)
                                 : found(diagram, hardware).levels[0].transfer_bytes;
}

}  // namespace

TEST_CASE("half the bytes a value is 2^(1 + beta) times less to move", "[machine]") {
  const auto hardware = one_memory("256");
  for (const auto& [name, sizes, beta] : examples) {
    CAPTURE(name);
    auto text = read_file(NAPKIN_SOURCE_DIR "/examples/" + name);
    const auto wide = least_moved(name, read_text(text, {sizes, {}}), hardware);
    for (auto at = text.find("f16"); at != std::string::npos; at = text.find("f16")) text.replace(at, 3, "f8e4m3");
    const auto narrow = least_moved(name, read_text(text, {sizes, {}}), hardware);
    CHECK(static_cast<double>(wide) / static_cast<double>(narrow) == Approx(std::pow(2, 1 + beta)).epsilon(0.03));
  }
}

TEST_CASE("twice the room is 2^beta times less to move", "[machine]") {
  const auto small = one_memory("128"), large = one_memory("256");
  for (const auto& [name, sizes, beta] : examples) {
    CAPTURE(name);
    const auto diagram = read_example(name, {sizes, {}});
    const auto before = least_moved(name, diagram, small), after = least_moved(name, diagram, large);
    CHECK(static_cast<double>(before) / static_cast<double>(after) == Approx(std::pow(2, beta)).epsilon(0.03));
  }
}

TEST_CASE("every array keeps its own width at every level", "[machine]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto kernel = testing::planned(read_text(scaled), "group q 128, stream x 128 at smem", hardware);
  const auto cost = estimate(kernel, hardware, Model::machine);
  const std::map<std::string, std::int64_t> widths = {{"Q", 1},  {"K", 1},  {"V", 1}, {"Qs", 4},
                                                      {"Ks", 4}, {"Vs", 4}, {"O", 2}};
  for (const auto& array : cost.levels[0].arrays) {
    CAPTURE(array.array);
    CHECK(array.transfer_bytes == array.transfer_values * widths.at(array.array));
  }
  const auto made = configure(kernel, cost, hardware, Model::machine);
  REQUIRE(made);
  CHECK(made->instruction == "mma.sync m16n8k32");  // P is computed, and V contracted along its first axis
  std::map<std::string, Datatype> types;
  for (const auto& column : made->columns)
    for (const auto& variable : column.variables) types[variable.name] = variable.type;
  for (const auto* name : {"S_sum", "S", "m", "l", "O_sum"}) CHECK(types.at(name) == Datatype::f32);
  CHECK(types.at("t_f8e4m3") == Datatype::f8e4m3);
  for (const auto& variable : made->variables) CHECK(row(variable.type).bytes == widths.at(variable.name));
}

TEST_CASE("a contraction of operands of eight bits takes half as long as one of sixteen", "[machine]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto tensor = [&](const std::string& type) {
    const auto diagram =
        read_text("diagram product\naxis m = 512; axis n = 512; axis k = 512\ninput A: " + type +
                  "[m, k]; input B: " + type + "[n, k]\nC: f16[m, n] = sum[k](A[m, k] * B[n, k])\noutput C\n");
    const auto kernel = testing::planned(diagram, "group m 128, n 128, stream k 128 at smem", hardware);
    const auto made = configure(kernel, estimate(kernel, hardware, Model::machine), hardware, Model::machine);
    double clocks = 0;
    for (const auto& column : made.value().clocks)
      if (column.on == Resource::tensor) clocks += column.clocks;
    return std::pair{clocks, made->instruction};
  };
  CHECK(tensor("f8e4m3").second == "wgmma m64n8k32");
  CHECK(tensor("f16").first == Approx(2 * tensor("f8e4m3").first));
}
