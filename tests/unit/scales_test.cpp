// Sums of powers that a file guards by dividing first keep that guard: they are carried relative to a running maximum.
#include <algorithm>
#include <cmath>

#include "napkin/loops.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

// What streaming x in pieces of 3 gives in f32, and what the file means in double.
std::pair<double, double> ran(const std::string& value, const std::vector<double>& data,
                              const std::vector<double>& weights) {
  const auto size = std::to_string(data.size());
  const auto diagram =
      read_text("diagram t\naxis x = " + size + "\ninput A: f32[x]\ninput W: f32[x]\nY[] = " + value + "\noutput Y\n");
  Values values;
  values.arrays.resize(diagram.arrays.size());
  values.arrays[0] = data, values.arrays[1] = weights;
  auto meant = values;
  evaluate(diagram, meant, false);
  const auto hardware = read_machine("two-level");
  const Partition partition{{{SplitKind::stream, *find_wire(diagram, "x"), 3, 1}}};
  interpret(lower(make_kernel(derived(diagram), partition), hardware), hardware, values);
  const auto output = diagram.outputs[0].index;
  return {values.arrays[output][0], meant.arrays[output][0]};
}

std::vector<double> scaled(std::vector<double> all, double by) {
  for (auto& one : all) one = row(Datatype::f32).round(one * by);
  return all;
}

void check(const std::string& value, const std::vector<double>& data, const std::vector<double>& weights) {
  CAPTURE(value, data[3]);
  const auto [got, meant] = ran(value, data, weights);
  CHECK(std::abs(got - meant) <= 1e-5 * std::abs(meant));
}

const std::vector<double> data = {0, 0, 0, 0.5, -2, 1, 3, -0.25, 1.5, 0, 2.5};
const std::vector<double> ones(data.size(), 1);

}  // namespace

TEST_CASE("a sum of powers keeps the guard that the file has") {
  // Pieces of zeros come first, and the greatest of all in a late piece.
  for (const std::string value :
       {"max[x](abs(A[x])) * sqrt(sum[x]((A[x] / max[x](abs(A[x])))^2))", "sum[x]((A[x] / max[x](abs(A[x])))^8)",
        "sum[x](W[x] * abs(A[x] / max[x](abs(A[x])))^3)", "sum[x]((A[x] / (max[x](abs(A[x])) + 1e-20))^2)",
        "sum[x]((A[x] / sum[x](abs(A[x])))^4)", "sum[x](W[x] * (A[x] / max[x](abs(A[x]))))"})
    for (const double by : {1.0, 1e25, 1e-18}) check(value, scaled(data, by), ones);
  for (const double by : {1.0, 1e12}) check("sum[x](l2norm[x](A[x])^8)", scaled(data, by), ones);
}

TEST_CASE("distances between shares stay within the range that the file stays within") {
  for (const std::string value :
       {"sum[x]((A[x] / mean[x](A[x]) - 1)^2)", "sum[x]((1 - A[x] / max[x](A[x]))^4)",
        "var[x](A[x] / max[x](abs(A[x])))", "sum[x](A[x] / max[x](A[x]) * (A[x] / max[x](A[x]) - 1))",
        "sum[x](W[x] * (A[x] / max[x](abs(A[x])) - W[x] / max[x](abs(A[x])))^2)", "sum[x](A[x] / max[x](A[x]) - 1)"})
    for (const double by : {1.0, 1e25, 1e-18}) check(value, scaled(data, by), scaled(ones, by > 1 ? 1 : by));
}

TEST_CASE("a weight of zero where the exponent is greatest takes nothing from the rest") {
  const std::string sums = "sum[x](W[x] * exp(A[x]) * A[x]) / sum[x](W[x] * exp(A[x]))";
  std::vector<double> weights = ones;
  weights[6] = weights[10] = 0;
  auto far = data;
  far[6] = far[10] = 87;
  for (auto& one : far)
    if (one < 87) one -= 30;
  check(sums, far, weights);
  check(sums, data, weights);
  // Without a weight somewhere the maximum is carried as ever.
  check("sum[x](W[x] * exp(A[x])) / sum[x](exp(A[x]))", scaled(data, 100), ones);
}

TEST_CASE("what sixteen bits hold and few factors raise needs no scale") {
  const auto states = [](const std::string& type, const std::string& power) {
    const auto diagram = read_text("diagram t\naxis x = 8\ninput A: " + type +
                                   "[x]\nY[] = sum[x]((A[x] / sum[x](abs(A[x])))^" + power + ")\noutput Y\n");
    return std::get<Streamable>(derived(diagram)->find(*find_wire(diagram, "x"))->stream).state.size();
  };
  CHECK(states("f16", "2") == 2);
  CHECK(states("f16", "6") == 3);
  CHECK(states("bf16", "2") == 3);
}
