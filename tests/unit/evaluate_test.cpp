// The plain meaning against loops written by hand.
#include <cmath>

#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using Catch::Matchers::WithinRel;

namespace {

std::vector<double> output(const Diagram& diagram, Values& values, bool round = false) {
  evaluate(diagram, values, round);
  return values.arrays[diagram.outputs.front().index];
}

std::vector<double> run(const std::string& text, std::vector<std::vector<double>> inputs, bool round = false) {
  const auto diagram = read_text(text);
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) values.arrays[diagram.inputs[i].index] = inputs[i];
  return output(diagram, values, round);
}

}  // namespace

TEST_CASE("matmul is three loops") {
  const auto diagram = read_text(
      "diagram matmul; axis a = 3; axis b = 5; axis c = 4\ninput A: f32[a, b]; input B: f32[b, c]\n"
      "C[a, c] = sum[b](A[a, b] * B[b, c]); output C");
  auto values = drawn_values(diagram, 1, true);
  const auto A = values.arrays[0], B = values.arrays[1], C = output(diagram, values);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t c = 0; c < 4; ++c) {
      double sum = 0;
      for (std::size_t b = 0; b < 5; ++b) sum += A[a * 5 + b] * B[b * 4 + c];
      CHECK(C[a * 4 + c] == sum);
    }
}

TEST_CASE("causal attention is what one would write by hand") {
  constexpr std::size_t q_size = 17, x_size = 19, d_size = 5;
  const auto diagram = read_text(R"(
diagram attention
axis q = 17; axis x = 19; axis d = 5
input Q: f32[q, d]; input K: f32[x, d]; input V: f32[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))
P[q, x] = softmax[x](where(x <= q, S[q, x], -inf))
O[q, d] = sum[x](P[q, x] * V[x, d])
output O)");
  auto values = drawn_values(diagram, 2);
  const auto Q = values.arrays[0], K = values.arrays[1], V = values.arrays[2], O = output(diagram, values);
  for (std::size_t q = 0; q < q_size; ++q) {
    std::vector<double> weight(x_size, 0);
    double total = 0;
    for (std::size_t x = 0; x < x_size && x <= q; ++x) {
      double score = 0;
      for (std::size_t d = 0; d < d_size; ++d) score += Q[q * d_size + d] * K[x * d_size + d];
      total += weight[x] = std::exp(score / std::sqrt(5.0));
    }
    for (std::size_t d = 0; d < d_size; ++d) {
      double sum = 0;
      for (std::size_t x = 0; x < x_size; ++x) sum += weight[x] / total * V[x * d_size + d];
      CHECK_THAT(O[q * d_size + d], WithinRel(sum, 1e-12));
    }
  }
}

TEST_CASE("a convolution reads shifted positions") {
  const auto text =
      "diagram conv; axis u = 3; axis i = 2; axis w = u + i - 1\ninput X: f32[w]; input W: f32[i]\n"
      "Y[u] = sum[i](X[u + i] * W[i]); output Y";
  CHECK(run(text, {{1, 2, 3, 4}, {10, 1}}) == std::vector<double>{12, 23, 34});
}

TEST_CASE("an index is divided rounding down") {
  const auto text = "diagram blocks; axis q = 5; axis b = 3\ninput M: f32[b]\nY[q] = M[q / 2]; output Y";
  CHECK(run(text, {{7, 8, 9}}) == std::vector<double>{7, 7, 8, 8, 9});
}

TEST_CASE("a position is a number, and is divided like one") {
  CHECK(run("diagram d; axis q = 3\nY[q] = q / 2; output Y", {}) == std::vector<double>{0, 0.5, 1});
}

TEST_CASE("an inner reduction over the same axis leaves the outer one alone") {
  const auto text = "diagram d; axis x = 3\ninput A: f32[x]\nY[] = sum[x](A[x] * sum[x](A[x])); output Y";
  CHECK(run(text, {{1, 2, 3}}) == std::vector<double>{36});
}

TEST_CASE("stores and casts round when asked") {
  const auto text = "diagram d; axis x = 1\ninput A: f64[x]\nB: f16[x] = A[x]; C: f64[x] = bf16(A[x]) + B[x]; output C";
  const double third = 1.0 / 3;
  CHECK(run(text, {{third}}) == std::vector<double>{third + third});
  CHECK(run(text, {{third}}, true) ==
        std::vector<double>{row(Datatype::bf16).round(third) + row(Datatype::f16).round(third)});
}

TEST_CASE("a row that is masked whole gives what 0 / 0 gives") {
  const auto rows =
      run("diagram d; axis x = 2\ninput M: bool[x]\nP[x] = softmax[x](where(M[x], 1, -inf)); output P", {{0, 0}});
  CHECK(std::isnan(rows[0]));
}

TEST_CASE("an input of the wrong size is refused") {
  CHECK_THROWS(run("diagram d; axis x = 2\ninput A: f32[x]\nY[x] = A[x]; output Y", {{1}}));
}
