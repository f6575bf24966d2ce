// The loop nest of kernels written out by hand: its text, what it computes, and what it moves and holds.
#include "napkin/loops.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "support/by_hand.hpp"
#include "support/catch.hpp"

using namespace napkin;
using by_hand::group;
using by_hand::stream;

namespace {

std::int64_t size_of(const Diagram& diagram, ArrayId id) {
  std::int64_t size = 1;
  for (const auto wire : diagram.at(id).wires) size *= *diagram.size(wire);
  return size;
}

// Random inputs of a kernel, rounded to their types.
Values random_inputs(const Kernel& kernel, unsigned seed) {
  std::mt19937 random(seed);
  const auto& diagram = kernel.program.scratch;
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (const auto input : kernel.program.inputs)
    for (std::int64_t i = size_of(diagram, input); i > 0; --i)
      values.arrays[input.index].push_back(
          row(diagram.at(input).type).round(std::uniform_real_distribution<>(-1, 1)(random)));
  return values;
}

std::vector<double> matmul(const by_hand::Matmul& m, const Values& values) {
  const auto a = *m.drawing.diagram.size(m.a), b = *m.drawing.diagram.size(m.b), c = *m.drawing.diagram.size(m.c);
  std::vector<double> result;
  for (std::int64_t i = 0; i < a; ++i)
    for (std::int64_t j = 0; j < c; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < b; ++k)
        sum += values.arrays[m.A.index][i * b + k] * values.arrays[m.B.index][k * c + j];
      result.push_back(sum);
    }
  return result;
}

std::vector<double> attention(const by_hand::Attention& a, const Values& values) {
  const auto q = *a.drawing.diagram.size(a.q), x = *a.drawing.diagram.size(a.x), d = *a.drawing.diagram.size(a.d);
  std::vector<double> result;
  for (std::int64_t i = 0; i < q; ++i) {
    std::vector<double> p;
    double total = 0;
    for (std::int64_t j = 0; j < (a.causal ? std::min(i + 1, x) : x); ++j) {
      double s = 0;
      for (std::int64_t k = 0; k < d; ++k)
        s += values.arrays[a.Q.index][i * d + k] * values.arrays[a.K.index][j * d + k];
      p.push_back(std::exp(s / std::sqrt(d)));
      total += p.back();
    }
    for (std::int64_t k = 0; k < d; ++k) {
      double o = 0;
      for (std::size_t j = 0; j < p.size(); ++j) o += p[j] / total * values.arrays[a.V.index][j * d + k];
      result.push_back(o);
    }
  }
  return result;
}

void check_near(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    REQUIRE(!std::isnan(got[i]));
    worst = std::max(worst, std::abs(got[i] - expected[i]) / (1 + std::abs(expected[i])));
  }
  CHECK(worst < 3e-3);
}

}  // namespace

TEST_CASE("a matmul on two levels is lowered", "[loops]") {
  by_hand::Matmul m(8, 8, 8);
  const auto hardware = by_hand::machine({"high", "low"});
  const auto nest = lower(m.kernel({group(m.a, 4, 1), group(m.c, 2, 1), stream(m.b, 3, 1)}), hardware);
  CHECK(verify(nest) == std::vector<std::string>{});
  CHECK("\n" + to_text(nest, hardware) == R"(
group a 4 at low
group c 2 at low
hold l f32[4, 2] at low
hold C f16[4, 2] at low
l = 0
stream b 3 at low
  hold A_low f16[4, 3] at low
  hold B_low f16[3, 2] at low
  load A_low from A
  load B_low from B
  l = l + sum[b](A * B)
C = l
save C to C
)");
}

TEST_CASE("attention on three levels is lowered", "[loops]") {
  by_hand::Attention a(16, 16, 4, false);
  const auto hardware = by_hand::machine({"gmem", "smem", "reg"});
  const auto nest = lower(a.kernel({group(a.q, 8, 1), stream(a.x, 4, 1), group(a.q, 2, 2)}), hardware);
  CHECK(verify(nest) == std::vector<std::string>{});
  CHECK("\n" + to_text(nest, hardware) == R"(
group q 8 at smem
group q 2 at reg
hold m f32[2] at reg
hold l f32[2] at reg
hold o f32[2, 4] at reg
hold O f16[2, 4] at reg
hold Q_smem f16[8, 4] at smem
hold Q_reg f16[2, 4] at reg
hold O_smem f16[8, 4] at smem
m = -inf
l = 0
o = 0
load Q_smem from Q
load Q_reg from Q_smem
stream x 4 at smem
  hold S f32[2, 4] at reg
  hold n f32[2] at reg
  hold r f32[2] at reg
  hold P f16[2, 4] at reg
  hold K_smem f16[4, 4] at smem
  hold K_reg f16[4, 4] at reg
  hold V_smem f16[4, 4] at smem
  hold V_reg f16[4, 4] at reg
  load K_smem from K
  load K_reg from K_smem
  load V_smem from V
  load V_reg from V_smem
  S = sum[d](Q * K)
  n = max(m, max[x](S / sqrt(size(d))))
  r = exp(m - n)
  P = exp(S / sqrt(size(d)) - n)
  l = r * l + sum[x](P)
  o = r * o + sum[x](P * V)
  m = n
O = o / l
save O to O_smem
save O_smem to O
)");
}

TEST_CASE("a matmul is interpreted, ragged or not, on any levels", "[loops]") {
  const auto sizes = GENERATE(std::array{8, 8, 8}, std::array{7, 5, 9}, std::array{1, 1, 1});
  const std::int64_t piece = GENERATE(1, 3, 4, 20);
  by_hand::Matmul m(sizes[0], sizes[1], sizes[2]);
  CAPTURE(sizes, piece);
  const auto check = [&](const std::vector<Split>& splits, const Hardware& hardware) {
    const auto kernel = m.kernel(splits);
    const auto nest = lower(kernel, hardware);
    CHECK(verify(nest) == std::vector<std::string>{});
    auto values = random_inputs(kernel, 1);
    const auto count = interpret(nest, hardware, values);
    check_near(values.arrays[m.C.index], matmul(m, values));
    return count;
  };
  const auto pieces = [](std::int64_t size, std::int64_t p) { return (size + p - 1) / p; };
  const auto two = by_hand::machine({"high", "low"});
  const auto three = by_hand::machine({"gmem", "smem", "reg"});
  const auto [a, b, c] = sizes;
  const auto H = a * b * pieces(c, 2) + b * c * pieces(a, piece) + a * c;

  const auto plain = check({group(m.a, piece, 1), group(m.c, 2, 1), stream(m.b, piece, 1)}, two);
  CHECK(plain.levels[0].transfer_values == H);
  CHECK(plain.levels[0].transfer_bytes == 2 * H);

  const auto finer = check({group(m.a, piece, 1), group(m.c, 2, 1), stream(m.b, piece, 1), group(m.a, 2, 2),
                            group(m.c, 1, 2), stream(m.b, 2, 2)},
                           three);
  CHECK(finer.levels[0].transfer_values == H);
}

TEST_CASE("attention is interpreted, ragged or not, masked or not", "[loops]") {
  const auto sizes = GENERATE(std::array{8, 8, 4}, std::array{7, 9, 3}, std::array{1, 1, 1}, std::array{9, 5, 4});
  const bool causal = GENERATE(false, true);
  by_hand::Attention a(sizes[0], sizes[1], sizes[2], causal);
  CAPTURE(sizes, causal);
  const auto three = by_hand::machine({"gmem", "smem", "reg"});
  const auto kernel = a.kernel({group(a.q, 5, 1), stream(a.x, 3, 1), group(a.q, 2, 2), stream(a.x, 2, 2)});
  const auto nest = lower(kernel, three);
  CHECK(verify(nest) == std::vector<std::string>{});
  auto values = random_inputs(kernel, 2);
  const auto count = interpret(nest, three, values);
  check_near(values.arrays[a.O.index], attention(a, values));
  const auto [q, x, d] = sizes;
  CHECK(count.levels[0].transfer_values == 2 * q * d + 2 * x * d * ((q + 4) / 5));
}

TEST_CASE("the memory of a nest is its largest column", "[loops]") {
  by_hand::Attention a(16, 16, 4, false);
  const auto two = by_hand::machine({"high", "low"});
  const auto kernel = a.kernel({group(a.q, 8, 1), stream(a.x, 2, 1)});
  auto values = random_inputs(kernel, 3);
  const auto count = interpret(lower(kernel, two), two, values);
  // Q; K, V; m, l, o, n, r; S and P share a place.
  CHECK(count.levels[0].memory_values == 8 * 4 + 2 * 2 * 4 + 8 * (1 + 1 + 4 + 1 + 1) + 8 * 2);
}

TEST_CASE("a nest that is wrong is found out", "[loops]") {
  by_hand::Matmul m(8, 8, 8);
  const auto hardware = by_hand::machine({"high", "low"});
  auto nest = lower(m.kernel({group(m.a, 4, 1), stream(m.b, 3, 1)}), hardware);
  SECTION("an output that never leaves") {
    nest.body.steps.pop_back();
    CHECK(verify(nest) == std::vector<std::string>{"`C` leaves 0 times"});
  }
  SECTION("a read of nothing") {
    nest.body.steps.erase(nest.body.steps.begin());
    CHECK(verify(nest).size() == 1);
  }
  SECTION("a buffer without a home") {
    nest.body.buffers.clear();
    CHECK(!verify(nest).empty());
  }
}

TEST_CASE("a piece does not take the place of what its loop still needs", "[loops]") {
  by_hand::Matmul m(8, 8, 8);
  auto kernel = m.kernel({stream(m.a, 2, 1)});
  // The sum outlives the loop over `a` that finishes it piece by piece.
  auto& steps = kernel.program.steps;
  steps = {steps.at(0), std::get<Loop>(steps.at(1)).body.at(0), Loop{0, m.a, {steps.at(2)}}};
  const auto nest = lower(kernel, by_hand::machine({"high", "low"}));
  CHECK(verify(nest) == std::vector<std::string>{});
  CHECK_FALSE(held(nest).back().overwrites);
}
