// Names, types and wires: what a file means.
#include <algorithm>

#include "diagram/assume.hpp"
#include "napkin/diagram.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

std::string wires(const Diagram& diagram) {
  std::string text;
  for (const auto& wire : diagram.wires) text += (text.empty() ? "" : " ") + wire.name;
  return text;
}

std::string wires(const Diagram& diagram, const std::string& array) {
  std::string text;
  for (const auto& candidate : diagram.arrays)
    if (candidate.name == array)
      for (const auto wire : candidate.wires) text += (text.empty() ? "" : " ") + diagram.at(wire).name;
  return text;
}

std::string value(const Diagram& diagram, std::size_t statement = 0) {
  return to_text(diagram, diagram.statements.at(statement).value);
}

std::string value_of(const std::string& expression) {
  return value(
      read_text("diagram d; axis q = 8; axis x = 8; axis u = 4; axis i = 3; axis p = u + i - 1\n"
                "input S: f32[q, x]; input T: f32[q]; input M: bool[q, x]; input X: f32[p]\nY[q, x] = " +
                expression + "; output Y"));
}

std::size_t reductions_in(const Diagram& diagram) {
  return static_cast<std::size_t>(std::count_if(diagram.exprs.begin(), diagram.exprs.end(),
                                                [](const Expr& e) { return std::holds_alternative<Reduce>(e.node); }));
}

}  // namespace

TEST_CASE("attention's two d come apart, in order of appearance") {
  const auto diagram = read_example("multi_head.nap");
  CHECK(wires(diagram) == "b h q x d d'");
  CHECK(wires(diagram, "Q") == "b h q d");
  CHECK(wires(diagram, "K") == "b h x d");
  CHECK(wires(diagram, "V") == "b h x d'");
  CHECK(wires(diagram, "O") == "b h q d'");
  CHECK(find_wire(diagram, "d'")->index == 5);
  CHECK_FALSE(find_wire(diagram, "d''").has_value());
}

TEST_CASE("uses meet through arrays, and through inputs too") {
  const auto apart =
      read_text("diagram d; axis x = 4; input A: f32[x]; input B: f32[x]\nY[] = sum[x](A[x]) + sum[x](B[x]); output Y");
  CHECK(wires(apart) == "x x'");
  const auto met = read_text("diagram d; axis x = 4; input A: f32[x]\nY[] = sum[x](A[x]) + sum[x](A[x]^2); output Y");
  CHECK(wires(met) == "x");
  const auto later = read_text(
      "diagram d; axis x = 4; input A: f32[x]; input B: f32[x]\n"
      "Y[] = sum[x](A[x]) + sum[x](B[x])\nZ[] = sum[x](A[x] * B[x]); output Y; output Z");
  CHECK(wires(later) == "x");
}

TEST_CASE("another axis' name or an affine index does not join") {
  const auto other =
      read_text("diagram d; axis x = 4; axis y = 4; input A: f32[x]\nY[y] = A[y]; Z[x] = A[x]; output Y; output Z");
  CHECK(wires(other) == "y x");
  const auto shifted = read_text(
      "diagram d; axis x = 4; axis y = x - 1; input A: f32[x]\nY[y] = A[y + 1] - A[y]; Z[] = sum[x](A[x]); output Y; "
      "output Z");
  CHECK(wires(shifted) == "y x");
  const auto affine =
      read_text("diagram d; axis x = 4; input A: f32[x]\nY[x] = A[x / 2]; Z[] = sum[x](A[x]); output Y; output Z");
  CHECK(wires(affine) == "x x'");
}

TEST_CASE("a wire that no statement names comes last") {
  const auto diagram = read_text(
      "diagram conv; axis w = 9; axis u = 7; axis i = 3; input X: f32[w]; input W: f32[i]\n"
      "Y[u] = sum[i](X[u + i] * W[i]); output Y");
  CHECK(wires(diagram) == "u i w");
  CHECK(value(diagram) == "sum[i](X[u + i] * W[i])");
}

TEST_CASE("a def's own names capture nothing of the caller") {
  const std::string head = "diagram d; axis x = 4; axis y = 5; input S: f32[x, y]\n";
  const auto diagram = read_text(head + "def total[x](s) = sum[x](s)\nY[x] = total[y](S[x, y]); output Y");
  CHECK(value(diagram) == "sum[y](S[x, y])");
  const auto nested = read_text(head +
                                "def inner[y](x) = sum[y](x)\ndef outer[x](y) = inner[x](y * y)\n"
                                "Y[x] = outer[y](S[x, y]); output Y");
  CHECK(value(nested) == "sum[y](S[x, y] * S[x, y])");
  const auto swapped =
      read_text(head + "def both[y, x](s) = sum[y](s) + sum[x](s)\nY[] = both[x, y](S[0, 0]); output Y");
  CHECK(value(swapped) == "sum[x](S[0, 0]) + sum[y](S[0, 0])");
}

TEST_CASE("an argument is read where the call stands, its axis bound by the def's reduction") {
  const auto diagram = read_text(
      "diagram d; axis q = 4; axis x = 5; input S: f32[q, x]\ndef centred[a](s) = s - mean[a](s)\n"
      "Y[q, x] = centred[x](where(x <= q, S[q, x], 0)); output Y");
  CHECK(value(diagram) == "where(x <= q, S[q, x], 0) - sum[x](where(x <= q, S[q, x], 0)) / size(x)");
  CHECK(wires(diagram) == "q x");
}

TEST_CASE("equal expressions are there once") {
  const auto diagram = read_example("attention.nap");
  CHECK(reductions_in(diagram) == 4);  // of S, the maximum, the sum, of O
  const auto softmax = find_wire(diagram, "x");
  CHECK(softmax.has_value());
}

TEST_CASE("a reduction said twice in one statement is one, though its uses do not meet through arrays") {
  const std::string head = "diagram d; axis u = 4; axis i = 3; axis p = u + i - 1; input X: f32[p]\n";
  const auto diagram = read_text(head + "Y[u] = var[i](X[u + i]) * softmax[u](u); output Y");
  CHECK(wires(diagram) == "u i i' u' u'' p");
  CHECK(value(diagram) ==
        "sum[i]((X[u + i] - sum[i'](X[u + i']) / size(i))^2) / size(i) * (exp(u - max[u'](u')) / "
        "sum[u''](exp(u'' - max[u'](u'))))");
  const auto apart = read_text(head + "Y[u] = sum[i](X[u + i]); Z[u] = sum[i](X[u + i]); output Y; output Z");
  CHECK(wires(apart).find("i'") != std::string::npos);
}

TEST_CASE("a file's own def shadows the prelude's, for the file alone") {
  const std::string head = "diagram d; axis x = 4; input S: f32[x]\n";
  CHECK(value(read_text(head + "def softmax[a](s) = s\nY[x] = softmax[x](S[x]); output Y")) == "S[x]");
  CHECK(value(read_text(head + "def mean[a](s) = max[a](s)\nY[] = var[x](S[x]); output Y")) ==
        "sum[x]((S[x] - sum[x](S[x]) / size(x))^2) / size(x)");
  CHECK(value(read_text(head + "mean[] = mean[x](S[x]); output mean")) == "sum[x](S[x]) / size(x)");
}

TEST_CASE("calls are remembered in the user's words") {
  const auto diagram = read_example("attention.nap");
  REQUIRE(diagram.calls.size() == 1);
  CHECK(diagram.calls[0].def == "softmax");
  CHECK(diagram.calls[0].result == diagram.statements[1].value);
  REQUIRE(!diagram.calls[0].arguments.empty());
  for (const auto argument : diagram.calls[0].arguments) CHECK(to_text(diagram, argument) == "S[q, x]");
}

TEST_CASE("a call remembers its own arguments, not those of calls inside") {
  const std::string head = "diagram d; axis x = 4; input S: f32[x]\n";
  const auto diagram = read_text(head + "Y[x] = softmax[x](silu(S[x])); output Y");
  for (const auto& call : diagram.calls)
    for (const auto argument : call.arguments)
      CHECK(to_text(diagram, argument) == (call.def == "silu" ? "S[x]" : "S[x] * sigmoid(S[x])"));
}

TEST_CASE("expressions keep their meaning") {
  CHECK(value_of("-S[q, x]^2 * 3 - -1") == "-S[q, x]^2 * 3 - -1");
  CHECK(value_of("S[q, x]^(1 / 2)") == "S[q, x]^0.5");
  CHECK(value_of("where(x <= q and not (x > q - 2 or M[q, x]), S[q, x], -inf)") ==
        "where(x <= q and not (x > q - 2 or M[q, x]), S[q, x], -inf)");
  CHECK(value_of("max(S[q, x], T[q]) - max[x](S[q, x]) + f16(S[q, x])") ==
        "max(S[q, x], T[q]) - max[x](S[q, x]) + f16(S[q, x])");
  CHECK(value_of("size(x) * q + 1") == "size(x) * q + 1");
  CHECK(value_of("S[q, 0] + sum[i](X[i])") == "S[q, 0] + sum[i](X[i])");
}

TEST_CASE("indices become affine forms") {
  CHECK(value_of("S[q / 2, 7 - x]") == "S[q / 2, -x + 7]");
  CHECK(value_of("S[q / 2 / 2, (x + 1) / 2]") == "S[q / 4, (x + 1) / 2]");
  CHECK(value_of("S[q / 2 + 1, x + 0]") == "S[(q + 2) / 2, x]");
  CHECK(value_of("T[2*(q - q) + 3*1 + size(x) - 8]") == "T[3]");
  CHECK_THROWS(value_of("S[2*(q / 4), x]"));
}

TEST_CASE("a size in an index is assumed from there on, one in a value is not") {
  const auto assumed = [](const std::string& value) {
    const auto diagram =
        read_text("diagram d; axis x = 10; axis q = 4; input A: f32[x]\nY[x, q] = " + value + "; output Y");
    std::string text;
    for (const auto condition : assumptions(diagram)) text += to_text(diagram, condition) + ";";
    return text;
  };
  CHECK(assumed("A[size(x) - 1 - x]") == "10 == size(x);");
  CHECK(assumed("A[(size(q) + x) / 2]") == "4 == size(q);");
  CHECK(assumed("A[x] * (size(x) - 1 - x)") == "");
  CHECK(assumed("where(size(q) == 4 and size(x) > 2, A[x], 0)") == "");
}

TEST_CASE("sizes are made of earlier ones, and set from outside") {
  const std::string text = "diagram d; axis q; axis t = 2*q + 1; input S: f32[t]\nY[t] = S[t]; output Y";
  const auto symbolic = read_text(text);
  CHECK_FALSE(symbolic.size(*find_wire(symbolic, "t")).has_value());
  const auto set = read_text(text, {{{"q", 5}, {"q", 8}}, {}});
  CHECK(set.size(*find_wire(set, "t")) == 17);
  const auto over = read_text(text, {{{"t", 3}}, {}});
  CHECK(over.size(*find_wire(over, "t")) == 3);
}

TEST_CASE("types come from the file or from outside") {
  const std::string text =
      "diagram d; axis q = 4; input S: f16[q]; input T: bf16[q]; input M: bool[q] density 0.25\n"
      "A[q] = where(M[q], S[q], T[q]); B: f16[q] = A[q]; output B";
  const auto plain = read_text(text);
  CHECK(plain.arrays[2].density == 0.25);
  CHECK(plain.arrays[3].type == Datatype::f32);
  CHECK(plain.arrays[4].type == Datatype::f16);
  const auto set = read_text(text, {{}, {{"", Datatype::f64}, {"T", Datatype::f8e4m3}}});
  CHECK(set.arrays[0].type == Datatype::f64);
  CHECK(set.arrays[1].type == Datatype::f8e4m3);
  CHECK(set.arrays[2].type == Datatype::boolean);
  CHECK(set.arrays[4].type == Datatype::f16);
}

TEST_CASE("several outputs keep their order") {
  const auto diagram = read_text("diagram d; axis q = 4\nA[q] = q; B[q] = A[q]; output B; output A");
  REQUIRE(diagram.outputs.size() == 2);
  CHECK(diagram.at(diagram.outputs[0]).name == "B");
}
