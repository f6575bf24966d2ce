// Sums of powers of a difference are carried about a running mean: exact where raw moments cancel.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "derive/streams/divide.hpp"
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

// Numbers around a mean with a deviation, as f32 holds them.
std::vector<double> around(double mean, std::size_t count, double deviation = 1) {
  std::mt19937 random(7);
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(row(Datatype::f32).round(std::normal_distribution<>(mean, deviation)(random)));
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

// Outputs of a kernel whose x is streamed by `piece`, with states in f32, or, with `plain`, by the plain meaning in
// double.
using Inputs = std::vector<std::vector<double>>;
std::vector<double> ran(const Diagram& diagram, const Inputs& inputs, std::int64_t piece, bool plain = false) {
  const auto hardware = read_machine("two-level");
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) values.arrays[diagram.inputs[i].index] = inputs[i];
  if (plain)
    evaluate(diagram, values, false);
  else
    interpret(lower(streamed(diagram, "x", piece), hardware), hardware, values);
  return values.arrays.at(diagram.outputs[0].index);
}
double ran(const std::string& statements, const std::vector<double>& data) {
  const auto diagram = read_text("diagram t\naxis x = " + std::to_string(data.size()) + "\ninput X: f32[x]\n" +
                                 statements + "\noutput V\n");
  return ran(diagram, {data}, 64).at(0);
}

// The difference from the plain meaning, as a share of what is meant.
double off(const std::string& declarations, const Inputs& inputs, std::int64_t piece) {
  const auto diagram =
      read_text("diagram t\naxis x = " + std::to_string(inputs[0].size()) + "\n" + declarations + "\noutput V\n");
  const double meant = ran(diagram, inputs, piece, true).at(0);
  return std::abs(ran(diagram, inputs, piece).at(0) - meant) / std::abs(meant);
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

TEST_CASE("the variance of exponentials keeps its digits in one pass") {
  const auto data = around(5, 4000, 1e-3);
  std::vector<double> powers;
  for (const double number : data) powers.push_back(std::exp(number));
  CHECK(std::abs(ran("V[] = var[x](exp(X[x]))", data) / variance_of(powers) - 1) < 1e-2);
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
  CHECK(carried(head + "V[r] = var[x](X[r, x])\noutput V\n", "x") == "mean count l V");
  CHECK(carried(head + "V[r] = sum[x](X[r, x]^2) - sum[x](X[r, x])\noutput V\n", "x") == "V l");
  // Over both axes there is one mean of all, and either axis streams.
  const std::string both = head + "V[] = sum[r, x]((X[r, x] - sum[r, x](X[r, x]) / (size(r) * size(x)))^2)\noutput V\n";
  CHECK(carried(both, "x") == "mean count l V");
  CHECK(carried(both, "r") == "mean count l V");
}

TEST_CASE("two empty parts merge to an empty one") {
  const auto diagram = read_text("diagram t\naxis x = 8\ninput X: f32[x]\nV[] = var[x](X[x])\noutput V\n");
  const std::vector<StatementId> statements = {{0}};
  const auto derivation = derive(diagram, statements);
  const auto& stream = std::get<Streamable>(derivation.verdicts[0].stream);
  std::string merge;
  for (const auto& column : stream.merge) merge += to_text(stream.scratch, column) + "; ";
  CHECK(
      merge.find(
          "mean2 = mean * (count / where(count2 > 0, count2, 1)) + mean' * (count' / where(count2 > 0, count2, 1))") !=
      std::string::npos);
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

TEST_CASE("products of distances from two means are carried about both") {
  const std::string two = "input A: f32[x]; input B: f32[x]\n";
  const std::string a = "(A[x] - mean[x](A[x]))", b = "(B[x] - mean[x](B[x]))";
  auto first = around(1e5, 3000), second = first;
  for (std::size_t i = 0; i < second.size(); ++i) second[i] = row(Datatype::f32).round(second[i] / 2 + (i % 7) * 0.25);
  for (const int piece : {1, 7, 64}) {
    CHECK(off(two + "V[] = mean[x](" + a + " * " + b + ")", {first, second}, piece) < 1e-4);
    CHECK(off(two + "V[] = sum[x](" + a + " * " + b + ") / sqrt(sum[x](" + a + "^2) * sum[x](" + b + "^2))",
              {first, second}, piece) < 1e-4);
  }
}

TEST_CASE("what rounding leaves of the first moment is carried") {
  // A mean near 1e5 is rounded to 1/128, which is as much as the deviation.
  std::vector<double> data;
  for (int i = 0; i < 4000; ++i) data.push_back(1e5 + (i % 3 == 0 ? 1.0 / 64 : 0) + (i < 2000 ? 1.0 / 128 : 0));
  for (const int piece : {1, 64, 1000}) CHECK(off("input X: f32[x]\nV[] = var[x](X[x])", {data}, piece) < 1e-4);
}

TEST_CASE("weights of a mean that are never negative are the weights of its centre") {
  const std::string two = "input S: f32[x]; input X: f32[x]\nP[x] = softmax[x](S[x])\nM[] = sum[x](P[x] * X[x])\n";
  const auto data = around(1e5, 2000);
  auto scores = around(0, 2000);
  for (auto& score : scores) score *= 8;
  CHECK(off(two + "V[] = sum[x](P[x] * (X[x] - M[])^2)", {scores, data}, 16) < 1e-4);
  const std::string given = "input S: f32[x]; input X: f32[x]\nM[] = sum[x](S[x] * X[x]) / sum[x](S[x])\n";
  for (auto& score : scores) score = row(Datatype::f32).round(score + 20);
  CHECK(off(given + "V[] = sum[x](S[x] * (X[x] - M[])^2) / sum[x](S[x])", {scores, data}, 16) < 1e-4);
}

TEST_CASE("what a mask leaves out of a variance may be anything") {
  const std::string two = "input K: bool[x]; input X: f32[x]\nN[] = sum[x](where(K[x], 1, 0))\n";
  const std::string mean = "M[] = sum[x](where(K[x], X[x], 0)) / ";
  const std::string square = "V[] = sum[x](where(K[x], (X[x] - M[])^2, 0)) / ";
  auto data = around(1e5, 600);
  std::vector<double> mask(data.size(), 0);
  for (std::size_t i = 200; i < data.size(); ++i) mask[i] = i % 3 != 0;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (mask[i] == 0) data[i] = i % 2 == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  CHECK(off(two + mean + "N[]\n" + square + "N[]", {mask, data}, 16) < 1e-4);
  // Where nothing counts the plain meaning is no number, unless the file says otherwise.
  const std::vector<double> none(data.size(), 0);
  const std::string head = "diagram t\naxis x = 600\n" + two;
  CHECK(std::isnan(ran(read_text(head + mean + "N[]\n" + square + "N[]\noutput V\n"), {none, data}, 16).at(0)));
  CHECK(ran(read_text(head + mean + "max(N[], 1)\n" + square + "max(N[], 1)\noutput V\n"), {none, data}, 16).at(0) ==
        0);
}

TEST_CASE("distances from an extreme that the file subtracts are carried from the running one") {
  const std::string log = "input S: f32[x]; input Y: f32[x]\nM[] = max[x](S[x])\nL[] = log(sum[x](exp(S[x] - M[])))\n";
  const auto scores = around(1e5, 1000);
  const auto other = around(-1e5, 1000);
  const auto weights = around(1, 1000);
  auto twice = around(0, 1000);
  for (auto& score : twice) score *= 2;
  for (const int piece : {1, 16}) {
    CHECK(off(log + "V[] = sum[x](softmax[x](S[x]) * (S[x] - M[] - L[]))", {scores, weights}, piece) < 1e-5);
    CHECK(off(log + "V[] = sum[x](Y[x] * (S[x] - M[] - L[]))", {scores, weights}, piece) < 1e-5);
    CHECK(off(log + "V[] = mean[x](S[x] - M[] - L[])", {scores, weights}, piece) < 1e-5);
    CHECK(off(log + "V[] = sum[x]((S[x] - M[])^2)", {scores, weights}, piece) < 1e-5);
    // Logarithms of two softmaxes, whose scores lie far apart.
    CHECK(off("input S: f32[x]; input R: f32[x]\nV[] = sum[x](softmax[x](S[x]) * (logsoftmax[x](S[x]) - "
              "logsoftmax[x](R[x] + 1e5)))",
              {twice, other}, piece) < 1e-5);
  }
}

TEST_CASE("ratios to a finished number are distances, times a finished factor") {
  const std::string one = "input A: f32[x]\n", two = one + "input B: f32[x]\n";
  const auto near = around(1e5, 600), other = around(1e4, 600);
  const std::vector<double> turned(near.rbegin(), near.rend());
  for (const int piece : {1, 16}) {
    CHECK(off(one + "V[] = sum[x]((A[x] / mean[x](A[x]) - 1)^2)", {near}, piece) < 1e-3);
    CHECK(off(one + "V[] = sum[x]((1 - A[x] / max[x](A[x]))^2)", {near}, piece) < 1e-3);
    CHECK(off(one + "V[] = sum[x](1 - A[x] / max[x](A[x]))", {near}, piece) < 1e-3);
    CHECK(off(one + "V[] = var[x](A[x] / max[x](abs(A[x])))", {near}, piece) < 1e-3);
    CHECK(off(one + "V[] = var[x](A[x] * max[x](A[x]))", {near}, piece) < 1e-3);
    CHECK(off(two + "V[] = sum[x]((A[x] / max[x](A[x]) - B[x] / max[x](A[x]))^2)", {near, turned}, piece) < 1e-3);
    CHECK(off(two + "V[] = sum[x]((A[x] / max[x](A[x]) - 1) * (B[x] / min[x](B[x]) - 1))", {near, other}, piece) <
          1e-3);
    CHECK(off(two + "V[] = sum[x](B[x]^2 * (A[x] / sum[x](A[x]) - 1 / size(x))^2)", {near, other}, piece) < 1e-3);
  }
  // Under a mask only what counts is looked at.
  auto data = around(1e5, 600);
  std::vector<double> mask(data.size(), 0);
  for (std::size_t i = 200; i < data.size(); ++i) mask[i] = i % 3 != 0;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (mask[i] == 0) data[i] = std::numeric_limits<double>::infinity();
  CHECK(off("input K: bool[x]; input A: f32[x]\nM[] = max[x](where(K[x], A[x], 0))\n"
            "V[] = sum[x](where(K[x], (A[x] / M[] - 1)^2, 0))",
            {mask, data}, 16) < 1e-3);
}

TEST_CASE("what is subtracted from every term stays inside the sum, or meets the running mean") {
  const std::string two = "input A: f32[x]\ninput B: f32[x]\n";
  const auto a = around(1e5, 600), b = around(1e5, 600);
  for (const int piece : {1, 16}) {
    CHECK(off(two + "V[] = sum[x](B[x] - A[0])", {a, b}, piece) < 1e-5);
    CHECK(off(two + "V[] = sum[x](B[x] - 1e5)", {a, b}, piece) < 1e-5);
    CHECK(off(two + "V[] = sum[x](B[x] - max[x](A[x] + B[x]) / 2)", {a, b}, piece) < 1e-3);
    CHECK(off(two + "V[] = sum[x](B[x] - min[x](A[x])) / (1 + sum[x](A[x] - B[x])^2)", {a, b}, piece) < 1e-3);
  }
}

TEST_CASE("logarithms of shares are those of quotients by the running maximum") {
  const std::string two = "input A: f32[x]\ninput B: f32[x]\n";
  const auto a = around(1e5, 600), b = around(1e4, 600);
  for (const int piece : {1, 16}) {
    CHECK(off(two + "V[] = sum[x](log(abs(A[x]) / max[x](abs(A[x]))))", {a, b}, piece) < 1e-3);
    CHECK(off(two + "V[] = sum[x](abs(B[x]) * log2(abs(A[x]) / max[x](abs(A[x]))))", {a, b}, piece) < 1e-3);
    CHECK(off(two + "V[] = sum[x](log(abs(A[x]) / max[x](abs(A[x]))) - log(abs(B[x]) / max[x](abs(B[x]))))", {a, b},
              piece) < 1e-2);
  }
}

TEST_CASE("states of parts with different centres merge") {
  for (const std::string statement :
       {"V[] = mean[x]((A[x] - mean[x](A[x])) * (B[x] - mean[x](B[x])))",
        "P[x] = softmax[x](B[x] * 1e-3)\nM[] = sum[x](P[x] * A[x])\nV[] = sum[x](P[x] * (A[x] - M[])^2)",
        "V[] = -sum[x](softmax[x](A[x]) * (A[x] - max[x](A[x]) - log(sum[x](exp(A[x] - max[x](A[x]))))))"}) {
    const auto diagram =
        read_text("diagram t\naxis x = 96\ninput A: f32[x]; input B: f32[x]\n" + statement + "\noutput V\n");
    std::vector<StatementId> all;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
    const auto divided = divide(diagram, derive(diagram, all), *find_wire(diagram, "x"), 4);
    REQUIRE(divided);
    const Inputs inputs = {around(1e3, 96), around(1e4, 96)};
    Values values;
    values.arrays.resize(divided->diagram.arrays.size());
    for (std::size_t i = 0; i < 2; ++i) values.arrays[diagram.inputs[i].index] = inputs[i];
    evaluate(divided->diagram, values, false);
    const double meant = ran(diagram, inputs, 1, true).at(0);
    CHECK(std::abs(values.arrays[diagram.outputs[0].index].at(0) / meant - 1) < 1e-3);
  }
}

TEST_CASE("pieces on which no weight counts leave moments as they were") {
  const auto diagram = read_text(
      "diagram t\naxis q = 64; axis x = 64\ninput A: f32[q, x]\n"
      "N[q] = sum[x](where(x <= q, 1, 0))\nM[q] = sum[x](where(x <= q, A[q, x], 0)) / N[q]\n"
      "V[q] = sum[x](where(x <= q, (A[q, x] - M[q])^2, 0)) / N[q]\noutput V\n");
  const auto kernel = streamed(diagram, "x", 8);
  const Loop* loop = nullptr;
  for (const auto& step : kernel.program.steps)
    if (const auto* found = std::get_if<Loop>(&step)) loop = found;
  REQUIRE(loop);
  CHECK(loop->needs.size() == 1);
}

TEST_CASE("what would cancel if it were multiplied out is refused") {
  const auto why = [](const std::string& statement) {
    const auto diagram = read_text(
        "diagram t\naxis x = 64\naxis y = 8\ninput A: f32[x]\ninput B: f32[x]\n"
        "input C: f32[y, x]\n" +
        statement + "\noutput V\n");
    std::vector<StatementId> all;
    for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
    const auto derivation = derive(diagram, all);
    const auto& stream = derivation.find(*find_wire(diagram, "x"))->stream;
    const auto* refused = std::get_if<Refused>(&stream);
    return refused ? refused->reason : "";
  };
  for (const auto* statement :
       {"V[] = var[x](softmax[x](A[x]))", "V[] = sum[x]((A[x] / mean[x](A[x]) - B[x] / mean[x](B[x]))^2)",
        "V[] = var[x](A[x] * layernorm[x](B[x]))", "V[] = sum[y, x]((C[y, x] - mean[x](C[y, x]))^2)",
        "V[] = sum[x](softmax[x](B[x]) * (layernorm[x](A[x]) - softmax[x](B[x]) * layernorm[x](A[x]))^2)"}) {
    CAPTURE(statement);
    CHECK(why(statement).find("sums of large terms that cancel") != std::string::npos);
  }
  for (const auto* statement :
       {"V[] = var[x](A[x])", "V[] = var[x](exp(A[x]))", "V[] = sum[x](layernorm[x](A[x]) * layernorm[x](B[x]))",
        "V[] = sum[x]((softmax[x](A[x]) + exp(B[x]) / max[x](exp(B[x])))^2)"}) {
    CAPTURE(statement);
    CHECK(why(statement).empty());
  }
}
