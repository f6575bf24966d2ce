// Sums of powers of a difference are carried about a running mean: exact where raw moments cancel.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "napkin/loops.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

Kernel streamed(const Diagram& diagram, const std::string& wire, std::int64_t size) {
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  auto derivation = std::make_shared<const Derivation>(derive(diagram, all));
  return make_kernel(std::move(derivation), {{{SplitKind::stream, *find_wire(diagram, wire), size, 1}}});
}

// Numbers around a mean with deviation 1, as f32 holds them.
std::vector<double> around(double mean, std::size_t count) {
  std::mt19937 random(7);
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(row(Datatype::f32).round(std::normal_distribution<>(mean, 1)(random)));
  return all;
}

double mean_of(const std::vector<double>& all) {
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}
double variance_of(const std::vector<double>& all) {
  const double mean = mean_of(all);
  double squares = 0;
  for (const double value : all) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(all.size());
}

// What the only output of a diagram with the only input X is when x is streamed by 64 with states in f32.
double ran(const std::string& statements, const std::vector<double>& data) {
  const auto diagram = read_text("diagram t\naxis x = " + std::to_string(data.size()) + "\ninput X: f32[x]\n" +
                                 statements + "\noutput V\n");
  const auto hardware = read_machine("two-level");
  Values values;
  values.arrays.resize(diagram.arrays.size());
  values.arrays[diagram.inputs[0].index] = data;
  interpret(lower(streamed(diagram, "x", 64), hardware), hardware, values);
  return values.arrays.at(diagram.outputs[0].index).at(0);
}

std::string carried(const std::string& text, const std::string& wire) {
  const auto diagram = read_text(text);
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  const auto derivation = derive(diagram, all);
  const auto& stream = std::get<Streamable>(derivation.find(*find_wire(diagram, wire))->stream);
  std::string names;
  for (const auto& state : stream.state) names += (names.empty() ? "" : " ") + stream.scratch.at(state.array).name;
  return names;
}

}  // namespace

TEST_CASE("the variance of large numbers keeps its digits in one pass") {
  const auto data = around(1e4, 4000);
  const double meant = variance_of(data);
  CHECK(std::abs(ran("V[] = var[x](X[x])", data) / meant - 1) < 1e-3);
  // The same by raw moments, as a file may ask for it.
  const double raw = ran("V[] = sum[x](X[x]^2) / size(x) - (sum[x](X[x]) / size(x))^2", data);
  CHECK(std::abs(raw / meant - 1) > 0.1);
}

TEST_CASE("a mean that wanders is followed") {
  auto data = around(0, 4000);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = row(Datatype::f32).round(data[i] + static_cast<double>(i));
  CHECK(std::abs(ran("V[] = var[x](X[x])", data) / variance_of(data) - 1) < 1e-5);
}

TEST_CASE("moments of higher powers are repaired by the lower ones") {
  const auto data = around(300, 4000);
  const double mean = mean_of(data);
  for (const int power : {3, 4}) {
    double meant = 0;
    for (const double value : data) meant += std::pow(value - mean, power) / static_cast<double>(data.size());
    const double got = ran("V[] = mean[x]((X[x] - mean[x](X[x]))^" + std::to_string(power) + ")", data);
    CHECK(std::abs(got - meant) < 2e-3 * std::max(1.0, std::abs(meant)));
  }
}

TEST_CASE("weighted differences are carried about the mean as well") {
  const auto data = around(1e4, 2000);
  double meant = 0;
  for (std::size_t i = 0; i < data.size(); ++i) meant += (i < 700 ? 1 : -0.5) * (data[i] - mean_of(data));
  const std::string weights = "where(x < 700, 1, -0.5)";
  const double got = ran("V[] = sum[x](" + weights + " * (X[x] - mean[x](X[x])))", data);
  CHECK(std::abs(got - meant) < 1e-2 * std::abs(meant));
}

TEST_CASE("the mean that is carried serves for the sum itself") {
  const std::string head = "diagram t\naxis r = 4; axis x = 32\ninput X: f32[r, x]\n";
  CHECK(carried(head + "V[r] = var[x](X[r, x])\noutput V\n", "x") == "count mean V");
  CHECK(carried(head + "V[r] = sum[x](X[r, x]^2) - sum[x](X[r, x])\noutput V\n", "x") == "V l");
  // Over both axes there is one mean of all, and either axis streams.
  const std::string both = head + "V[] = sum[r, x]((X[r, x] - sum[r, x](X[r, x]) / (size(r) * size(x)))^2)\noutput V\n";
  CHECK(carried(both, "x") == "count mean V");
  CHECK(carried(both, "r") == "count mean V");
}

TEST_CASE("two empty parts merge to an empty one") {
  const auto diagram = read_text("diagram t\naxis x = 8\ninput X: f32[x]\nV[] = var[x](X[x])\noutput V\n");
  const std::vector<StatementId> statements = {{0}};
  const auto derivation = derive(diagram, statements);
  const auto& stream = std::get<Streamable>(derivation.verdicts[0].stream);
  std::string merge;
  for (const auto& column : stream.merge) merge += to_text(stream.scratch, column) + "; ";
  CHECK(merge.find("mean2 = mean * (count / max(count2, 1)) + mean' * (count' / max(count2, 1))") != std::string::npos);
}

TEST_CASE("a cast around a distance from the mean does not round its terms") {
  // The mean is large beside what is left of it: an x rounded to bf16 would lose all of that. The greatest of what is
  // rounded is the greatest, rounded.
  const auto diagram = read_text(
      "diagram d; axis x = 6; axis o = 2; input X: f32[x]; input W: f32[x, o]\n"
      "Y[o] = sum[x](bf16(X[x] - sum[x](X[x]) / size(x)) * W[x, o])\n"
      "Z[] = max[x](bf16(X[x] - sum[x](X[x]) / size(x)))\noutput Y; output Z\n");
  const auto hardware = read_machine("two-level");
  const auto kernel = streamed(diagram, "x", 2);
  Values values;
  values.arrays.resize(kernel.program.scratch.arrays.size());
  values.arrays[0] = {1000, 1001, 1002, 1003, 1004, 1005};
  values.arrays[1] = {1, 0, -1, 1, 0, 0.5, 2, 0, 1, -1, 0, 1};
  auto meant = values;
  evaluate(diagram, meant, true);
  interpret(lower(kernel, hardware), hardware, values);
  for (const auto output : diagram.outputs)
    for (std::size_t i = 0; i < meant.arrays[output.index].size(); ++i)
      CHECK(std::abs(values.arrays[output.index][i] - meant.arrays[output.index][i]) < 0.05);
  CHECK(values.arrays[diagram.outputs[1].index] == meant.arrays[diagram.outputs[1].index]);
}
