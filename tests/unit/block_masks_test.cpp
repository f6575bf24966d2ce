// Masks that are inputs: pieces without an entry are passed over, and how many that will be is expected of the density.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "napkin/cost.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

// Attention over 4 by 4 blocks of 8 by 8.
Diagram blocks(const std::string& condition, const std::string& density) {
  return read_text(
      fmt::format("diagram blocks\naxis q = 32; axis x = 32; axis d = 4; axis qb = 4; axis xb = 4\n"
                  "input Q: f32[q, d]; input K: f32[x, d]; input V: f32[x, d]; input M: bool[qb, xb]{}\n"
                  "S[q, x] = sum[d](Q[q, d] * K[x, d])\nP[q, x] = softmax[x](where({}, S[q, x], -inf))\n"
                  "O[q, d] = sum[x](P[q, x] * V[x, d])\noutput O\n",
                  density, condition));
}
constexpr auto entry = "M[q / 8, x / 8]";

Kernel kernel_of(const Diagram& diagram, std::int64_t q, std::vector<std::pair<std::int64_t, std::size_t>> x) {
  Partition partition{{{SplitKind::group, *find_wire(diagram, "q"), q, 1}}};
  for (const auto& [size, level] : x)
    partition.splits.push_back({SplitKind::stream, *find_wire(diagram, "x"), size, level});
  return make_kernel(derived(diagram), partition);
}

std::int64_t moved(const KernelCost& cost, const std::string& array, std::size_t level = 0) {
  for (const auto& each : cost.levels.at(level).arrays)
    if (each.array == array) return each.transfer_values;
  return 0;
}

Values inputs(const Diagram& diagram, const std::vector<double>& mask) {
  std::mt19937 random(7);
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (const auto id : diagram.inputs) {
    const bool is_mask = diagram.at(id).type == Datatype::boolean;
    auto& data = values.arrays[id.index];
    for (int i = 0; !is_mask && i < 128; ++i) data.push_back(std::uniform_real_distribution<double>(-1, 1)(random));
    if (is_mask) data = mask;
  }
  return values;
}

std::vector<double> random_mask(std::uint32_t seed, double density) {
  std::mt19937 random(seed);
  std::vector<double> mask;
  for (int i = 0; i < 16; ++i) mask.push_back(std::bernoulli_distribution(density)(random));
  return mask;
}

}  // namespace

TEST_CASE("a piece on which a mask has no entry is neither loaded nor computed") {
  const auto hardware = read_machine("two-level");
  const std::vector<double> mask = {1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 1};  // five of sixteen
  std::vector<double> negated;
  for (const auto value : mask) negated.push_back(1 - value);
  for (const bool wanted : {true, false}) {
    const auto diagram = blocks(wanted ? entry : fmt::format("not {}", entry), "");
    const auto kernel = kernel_of(diagram, 8, {{8, 1}});
    auto got = inputs(diagram, wanted ? mask : negated);
    auto meant = got;
    const auto count = interpret(lower(kernel, hardware), hardware, got);
    CHECK(count.levels[0].transfer_values == 2 * 32 * 4 + 16 + 2 * 5 * 8 * 4);
    evaluate(diagram, meant, true);
    const auto output = diagram.outputs.front().index;
    for (std::size_t i = 0; i < meant.arrays[output].size(); ++i)
      CHECK(std::abs(got.arrays[output][i] - meant.arrays[output][i]) < 1e-5);
  }
}

TEST_CASE("of an unknown density every piece counts") {
  const auto diagram = blocks(entry, "");
  const auto hardware = read_machine("two-level");
  const auto kernel = kernel_of(diagram, 8, {{8, 1}});
  const auto cost = estimate(kernel, hardware, Model::machine);
  CHECK(moved(cost, "K") == 4 * 32 * 4);
  CHECK(cost.levels[0].transfer_values == count(kernel, hardware).levels[0].transfer_values);
}

TEST_CASE("transfers and operations scale with the density where pieces are blocks") {
  const auto hardware = read_machine("two-level");
  const auto cost = [&](const std::string& density) {
    return estimate(kernel_of(blocks(entry, density), 8, {{8, 1}}), hardware, Model::machine);
  };
  const auto all = cost(" density 1"), half = cost(" density 0.5"), few = cost(" density 0.125");
  for (const auto* array : {"K", "V"}) {
    CHECK(moved(all, array) == 4 * 32 * 4);
    CHECK(moved(half, array) == moved(all, array) / 2);
    CHECK(moved(few, array) == moved(all, array) / 8);
  }
  CHECK(moved(few, "M") == 16);
  CHECK(moved(few, "Q") == moved(all, "Q"));
  CHECK(half.units[0].operations < 0.6 * all.units[0].operations);
  REQUIRE(few.masks.size() == 1);
  CHECK(few.masks[0].run == 2);
  CHECK(few.masks[0].all == 16);
  CHECK(few.masks[0].expected);
  CHECK(few.masks[0].conditions == std::vector<std::string>{"M[q / 8, x / 8]"});
}

TEST_CASE("what is expected of a mask is what random masks move on average", "[long]") {
  const auto hardware = read_machine("toy");
  constexpr double density = 0.3;
  constexpr int masks = 400;
  // Pieces of one, two and four entries; a finer stream asks again of its own.
  struct Case {
    std::int64_t q;
    std::vector<std::pair<std::int64_t, std::size_t>> x;
  };
  for (const auto& [q, x] : {Case{8, {{8, 1}}}, Case{8, {{16, 1}}}, Case{16, {{16, 1}}}, Case{16, {{16, 1}, {8, 2}}}}) {
    const auto diagram = blocks(entry, " density 0.3");
    const auto kernel = kernel_of(diagram, q, x);
    const auto nest = lower(kernel, hardware);
    const auto expected = estimate(kernel, hardware, Model::machine);
    std::vector<double> counted(2);
    for (std::uint32_t seed = 0; seed < masks; ++seed) {
      auto values = inputs(diagram, random_mask(seed, density));
      const auto count = interpret(nest, hardware, values);
      for (std::size_t level = 0; level < 2; ++level)
        counted[level] += static_cast<double>(count.levels[level].transfer_values) / masks;
    }
    for (std::size_t level = 0; level < 2; ++level) {
      CAPTURE(q, x.size(), level, counted[level], expected.levels[level].transfer_values);
      CHECK(std::abs(counted[level] / static_cast<double>(expected.levels[level].transfer_values) - 1) < 0.03);
    }
  }
}

TEST_CASE("buffers hold the longest piece of a divided index, wherever pieces begin") {
  const auto hardware = read_machine("two-level");
  const auto diagram = read_text(
      "diagram divided; axis x = 20; axis b = 5; input X: f32[x]; input M: f32[b]\nY[x] = X[x] * M[x / 4]\noutput Y");
  const auto x = *find_wire(diagram, "x");
  const auto longest = [&](const Partition& partition) {
    const auto kernel = make_kernel(derived(diagram), partition);
    const auto nest = lower(kernel, hardware);
    Values values;
    values.arrays = {std::vector<double>(20, 1), {1, 2, 3, 4, 5}};
    interpret(nest, hardware, values);  // refuses a piece that is longer than its buffer
    CHECK(values.arrays[diagram.outputs.front().index][19] == 5);
    for (const auto& buffer : nest.buffers)
      if (diagram.at(buffer.array).name == "M") return buffer.extent.front();
    return std::int64_t{0};
  };
  const auto split = [&](SplitKind kind, std::int64_t size) { return Split{kind, x, size, 1}; };
  CHECK(longest({{split(SplitKind::stream, 8)}}) == 2);
  CHECK(longest({{split(SplitKind::stream, 2)}}) == 1);  // two in every four
  CHECK(longest({{split(SplitKind::stream, 3)}}) == 2);
  CHECK(longest({{split(SplitKind::group, 10), split(SplitKind::stream, 8)}}) == 3);  // 10 to 17
  CHECK(longest({{split(SplitKind::group, 8), split(SplitKind::stream, 2)}}) == 1);
}
