// Casts inside of what is taken apart: they may stand around a piece alone only where that rounds no more.
#include <algorithm>
#include <cmath>
#include <random>

#include "derive/algebra/ranges.hpp"
#include "napkin/loops.hpp"
#include "support/catch.hpp"
#include "support/derived.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"

using namespace napkin;
using namespace napkin::testing;

namespace {

const std::string head =
    "diagram t\naxis t = 3; axis x = 13; axis o = 2\ninput A: f32[t, x]\ninput H: f16[t, x]\ninput W: f32[x, o]\n";
const std::string greatest_magnitude = "M[t] = max[x](abs(A[t, x]))\n";

struct Answer {
  Diagram diagram;
  std::shared_ptr<const Derivation> derivation;
  bool streams = false;
  std::string words;  // the refusal and what would mend it, or the notes
};
Answer asked(const std::string& statements) {
  const bool scaled = statements.find("M[t]") != std::string::npos;
  Answer all{read_text(head + (scaled ? greatest_magnitude : "") + statements + "\noutput Y\n"), {}, false, {}};
  all.derivation = derived(all.diagram);
  const auto& stream = all.derivation->find(*find_wire(all.diagram, "x"))->stream;
  all.streams = std::holds_alternative<Streamable>(stream);
  if (const auto* refused = std::get_if<Refused>(&stream)) all.words = refused->reason + "; " + refused->mend;
  if (all.streams)
    for (const auto& note : std::get<Streamable>(stream).notes) all.words += note + "\n";
  return all;
}

// What streaming in pieces of 4 gives and what the file means, for A of this size.
std::pair<std::vector<double>, std::vector<double>> ran(const Answer& of, double size) {
  std::mt19937 random(5);
  Values values;
  values.arrays.resize(of.diagram.arrays.size());
  for (const auto input : of.diagram.inputs) {
    const auto& array = of.diagram.at(input);
    std::size_t count = 1;
    for (const auto wire : array.wires) count *= static_cast<std::size_t>(*of.diagram.size(wire));
    for (std::size_t i = 0; i < count; ++i)
      values.arrays[input.index].push_back(
          row(array.type).round(std::uniform_real_distribution<>(-1, 1)(random) * (array.name == "W" ? 1 : size)));
  }
  auto meant = values;
  evaluate(of.diagram, meant, true);
  const auto hardware = read_machine("two-level");
  const Partition partition{{{SplitKind::stream, *find_wire(of.diagram, "x"), 4, 1}}};
  interpret(lower(make_kernel(of.derivation, partition), hardware), hardware, values);
  const auto output = of.diagram.outputs[0].index;
  return {values.arrays[output], meant.arrays[output]};
}

double greatest_of(const std::vector<double>& all) {
  double most = 0;
  for (const double value : all) most = std::max(most, std::abs(value));
  return most;
}

void check_near(const Answer& of, double size, double share) {
  CAPTURE(size);
  const auto [got, meant] = ran(of, size);
  REQUIRE(got.size() == meant.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(std::abs(got[i] - meant[i]) <= share * greatest_of(meant));
}

}  // namespace

TEST_CASE("what formats hold is found by their rounding") {
  CHECK(greatest(Datatype::f16) == 65504);
  CHECK(greatest(Datatype::f8e4m3) == 448);
  CHECK(greatest(Datatype::i8) == 127);
  CHECK(greatest(Datatype::bf16) == row(Datatype::bf16).round(3.3895e38));
  CHECK(saturates(Datatype::f8e5m2));
  CHECK_FALSE(saturates(Datatype::f16));
  CHECK(reaches_as_far(Datatype::bf16, Datatype::f32));
  CHECK_FALSE(reaches_as_far(Datatype::f16, Datatype::f32));
  CHECK_FALSE(reaches_as_far(Datatype::i32, Datatype::f16));
  CHECK(holds_all_of(Datatype::f16, Datatype::f8e5m2));
  CHECK_FALSE(holds_all_of(Datatype::f16, Datatype::bf16));
}

TEST_CASE("a scale that is finished after the last piece does not leave the rounding to integers or to few digits") {
  for (const std::string body : {
           "P: i8[t, x] = A[t, x] / M[t] * 127\nY[t, o] = sum[x](P[t, x] * W[x, o]) * M[t] / 127",
           "P: i32[t, x] = A[t, x] / M[t] * 1e6\nY[t, o] = sum[x](P[t, x] * W[x, o])",
           "P: f8e4m3[t, x] = A[t, x] / M[t] * 449\nY[t, o] = sum[x](P[t, x] * W[x, o])",
           "P: f16[t, x] = l2norm[x](A[t, x])\nY[t, o] = sum[x](P[t, x] * W[x, o])",
           "P: f16[t, x] = rmsnorm[x](A[t, x])\nY[t, o] = sum[x](P[t, x] * W[x, o])",
           "Y[t, o] = sum[x](where(x <= t, i8(A[t, x] / M[t]), 0) * W[x, o])",
           "Y[t, o] = sum[x](i8(A[t, x] / M[t] * 9) * i8(W[x, o] / M[t]))",
           "Y[t, o] = sum[x](f16(A[t, x] * exp(A[t, x] - M[t])) * W[x, o])",
       }) {
    CAPTURE(body);
    const auto all = asked(body);
    CHECK_FALSE(all.streams);
    CHECK(all.words.find("known only after all of `x`") != std::string::npos);
    CHECK(all.words.find("leave out the rounding") != std::string::npos);
  }
}

TEST_CASE("a cast around a sum of what is known early and late is left out only where that loses nothing") {
  for (const std::string type : {"i8", "i32", "f8e4m3", "f8e5m2"}) {
    CAPTURE(type);
    CHECK_FALSE(asked("Y[t, o] = sum[x](" + type + "(A[t, x] - mean[x](A[t, x])) * W[x, o])").streams);
    // Rounding keeps the order: that of the greatest is the greatest.
    const auto greatest = asked("Y[t] = max[x](" + type + "(A[t, x] - mean[x](A[t, x])))");
    REQUIRE(greatest.streams);
    for (const double size : {1.0, 1e3}) check_near(greatest, size, 1e-6);
  }
  const auto left = asked("P: f16[t, x] = layernorm[x](A[t, x])\nY[t, o] = sum[x](P[t, x] * W[x, o])");
  CHECK(left.words.find("omits the cast to f16") != std::string::npos);
  for (const double size : {1e-2, 1.0, 1e6}) check_near(left, size, 2e-3);
}

TEST_CASE("rounding that commutes with what waits keeps its place before it") {
  for (const std::string weights :
       {"f16(softmax[x](A[t, x]))", "f16(A[t, x] / max[x](abs(A[t, x])))",
        "f8e4m3(A[t, x] / max[x](abs(A[t, x])) * 448) / 448", "f8e4m3(softmax[x](A[t, x]) * 448) / 448",
        "f16(exp(A[t, x] - max[x](A[t, x])) / (exp(0.5 - max[x](A[t, x])) + sum[x](exp(A[t, x] - max[x](A[t, x])))))",
        "bf16(l2norm[x](A[t, x]))", "bf16(rmsnorm[x](A[t, x]))", "bf16(layernorm[x](A[t, x]))",
        "f16(rmsnorm[x](H[t, x]))", "where(x <= t + 2, f16(softmax[x](A[t, x])), 0)"}) {
    CAPTURE(weights);
    const auto all = asked("Y[t, o] = sum[x](" + weights + " * W[x, o])");
    REQUIRE(all.streams);
    const double share = weights.find("f8") == 0 ? 0.07 : weights.find("b") == 0 ? 1e-2 : 2e-3;
    for (const double size : {1e-3, 1.0, 60.0}) check_near(all, size, share);
    if (weights.find("b") == 0)
      for (const double size : {1e-9, 1e9}) check_near(all, size, share);
  }
}

TEST_CASE("a cast of a piece alone rounds what the file rounds") {
  const auto all = asked("Y[t, o] = sum[x](f16(exp(A[t, x])) * W[x, o]) / sum[x](f16(exp(A[t, x])))");
  REQUIRE(all.streams);
  for (const double size : {1.0, 8.0}) check_near(all, size, 1e-6);
}

TEST_CASE("what a statement of integers adds up on the way is not rounded") {
  const auto first_fold = [](const Answer& all) {
    const auto& columns = all.derivation->columns;
    const auto at = std::ranges::find_if(columns, [](const Column& c) { return c.fold != nullptr; });
    REQUIRE(at != columns.end());
    return all.derivation->scratch.at(at->output).type;
  };
  CHECK(first_fold(asked("Y: i32[t] = sum[x](A[t, x] / 3)")) == Datatype::f64);
  const auto scaled = asked("Q: i32[t, x] = A[t, x] / max[x](abs(A[t, x])) * 100\nY: i32[t] = max[x](Q[t, x])");
  CHECK(first_fold(scaled) == Datatype::f64);
  for (const double size : {0.3, 0.49}) {
    check_near(asked("Y: i32[t] = sum[x](abs(A[t, x]))"), size, 0);
    check_near(scaled, size, 0);
  }
  // Products of integers are added up as integers.
  const auto whole =
      asked("P: i8[t, x] = A[t, x] * 9\nQ: i8[x, o] = W[x, o] * 9\nY: i32[t, o] = sum[x](P[t, x] * Q[x, o])");
  CHECK(first_fold(whole) == Datatype::i32);
  check_near(whole, 9, 0);
}
