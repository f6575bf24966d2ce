// Gradients: what is written for each rule, what the algebra finds, and what is refused. Numbers are compared with
// central differences by tests/oracle/gradients.py.
#include "napkin/grad.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;

namespace {

struct Ran {
  std::string text;
  std::vector<std::string> steps, codes;
};

std::vector<ast::Name> names(const std::vector<std::string>& all) {
  std::vector<ast::Name> made;
  for (const auto& name : all) made.push_back({name, nowhere});
  return made;
}

Ran ran(const std::string& text, const std::vector<std::string>& of = {}, const std::vector<std::string>& wrt = {},
        const std::vector<std::string>& save = {}) {
  Sources sources;
  Diagnostics diagnostics;
  const auto file = sources.add("test.nap", text);
  const auto diagram = read_diagram(sources, file, {}, diagnostics);
  const auto tree = parse(sources, file, diagnostics);
  const auto made =
      differentiate(sources, tree, diagram, {names(of), names(wrt), names(save)}, "napkin grad", diagnostics);
  Ran all;
  for (const auto& one : diagnostics.sorted())
    if (one.code[0] == 'E') all.codes.emplace_back(one.code);
  if (made) all.text = made->text, all.steps = made->steps;
  return all;
}

// The line of a text that begins so.
std::string line(const std::string& text, const std::string& begin) {
  const auto at = text.find("\n" + begin);
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

// The comment before a gradient, in one line.
std::string heading(std::string text) {
  for (auto at = text.find("\n#"); at != std::string::npos; at = text.find("\n#")) text.erase(at, 2);
  return text.substr(0, text.find('\n'));
}

std::string gradient(const std::string& body, const std::string& result = "dX") {
  const auto made = ran("diagram d; axis q = 6; axis x = 5; axis w = 3\n" + body + "; output Y");
  CAPTURE(made.text);
  CHECK(made.codes.empty());
  const auto found = line(made.text, result + ": f64[") + line(made.text, result + "[");
  return found.substr(std::min(found.find("= "), found.size()));
}

const std::string one = "input X: f64[x]; ";

// The output of a diagram of f64 without axes, from its inputs.
double value(const std::string& text, const std::vector<double>& inputs) {
  Sources sources;
  Diagnostics diagnostics;
  const auto diagram = read_diagram(sources, sources.add("test.nap", text), {}, diagnostics);
  REQUIRE(!diagnostics.has_errors());
  Values values;
  values.arrays.resize(diagram.arrays.size());
  for (std::size_t i = 0; i < diagram.inputs.size(); ++i) {
    const auto& name = diagram.at(diagram.inputs[i]).name;
    const auto at = name == "dY" ? inputs.size() : static_cast<std::size_t>(name[0] - 'A');
    values.arrays[diagram.inputs[i].index] = {at < inputs.size() ? inputs[at] : 1.0};
  }
  evaluate(diagram, values, false);
  return values.arrays[diagram.outputs[0].index][0];
}

std::string written(const Pointwise& function) {
  const auto name = std::string(function.name);
  if (function.precedence == 0) return function.arity == 1 ? name + "(A[])" : name + "(A[], B[])";
  return function.arity == 1 ? "-A[]" : "A[] " + name + " B[]";
}

}  // namespace

TEST_CASE("the derivatives of every row are those of its value") {
  int tried = 0;
  for (const auto& function : pointwise_functions()) {
    if (function.derivative.empty() || function.role == Role::choose) continue;
    for (const std::size_t i : {0, 1}) {
      if (i >= static_cast<std::size_t>(function.arity)) continue;
      const std::string inputs = function.arity == 1 ? "input A: f64[]" : "input A: f64[]; input B: f64[]";
      const auto text = "diagram d\n" + inputs + "\nY: f64[] = " + written(function) + "\noutput Y\n";
      const auto made = ran(text, {}, {i == 0 ? "A" : "B"});
      for (const double a : {0.3, 0.8, 1.7}) {
        std::vector<double> at{a, 1.1}, above = at, below = at;
        above[i] += 1e-5, below[i] -= 1e-5;
        const auto difference = (value(text, above) - value(text, below)) / 2e-5;
        CAPTURE(function.name, i, a, made.text);
        CHECK(std::abs(value(made.text, at) - difference) < 1e-8 * std::max(1.0, std::abs(difference)));
        ++tried;
      }
    }
  }
  CHECK(tried > 50);
}

TEST_CASE("each kind of expression passes its gradient on") {
  CHECK(gradient(one + "Y: f64[x] = 3 * X[x]") == "= 3 * dY[x]");
  CHECK(gradient(one + "Y: f64[x] = X[x]^3") == "= 3 * X[x]^2 * dY[x]");
  CHECK(gradient(one + "Y: f64[x] = tanh(2 * X[x])") == "= 2 * dY[x] * (1 - tanh(2 * X[x])^2)");
  CHECK(gradient(one + "Y: f64[] = sum[x](X[x])") == "= dY[]");
  CHECK(gradient(one + "Y: f64[q, x] = X[x]") == "= sum[q](dY[q, x])");
  CHECK(gradient(one + "Y: f64[x] = where(x < 3, X[x], 0)") == "= where(x < 3, dY[x], 0)");
  CHECK(gradient(one + "Y: f64[x] = f16(X[x])") == "= dY[x]");
  CHECK(gradient(one + "Y: f64[] = max[x](X[x])") == "= where(X[x] == Y[], dY[] / count[], 0)");
}

TEST_CASE("reads are solved, laid out, or summed under a condition") {
  CHECK(gradient(one + "Y: f64[x] = X[size(x) - 1 - x]") == "= dY[-x + 4]");
  CHECK(gradient("axis b = x / 5; input X: f64[b]; Y: f64[x] = X[x / 5]") == "= sum[r](dY[5*b + r])");
  CHECK(gradient("axis y = q + w - 1; input X: f64[y]; Y: f64[q] = sum[w](X[q + w] * w)") ==
        "= sum[w](w * dY_spread[-w + y + 2])");
  CHECK(gradient("axis y = q + 2; input X: f64[y]; Y: f64[q] = X[q + 2]") == "= sum[q](where(q + 2 == y, dY[q], 0))");
}

TEST_CASE("two wires of one axis that meet in a sum have two names") {
  const auto made = ran(read_file(NAPKIN_SOURCE_DIR "/examples/state_space.nap")).text;
  CHECK(made.find("where(t <= t2, ") != std::string::npos);
  CHECK(made.find("where(t <= t, ") == std::string::npos);
}

TEST_CASE("a sum that another order finds in an array that exists is not taken again") {
  const auto text = read_file(NAPKIN_SOURCE_DIR "/examples/attention.nap");
  const auto saved = ran(text, {}, {}, {"L"});
  CHECK(saved.steps == std::vector<std::string>{"sum[x](P * dP) = sum[d](dO * O)"});
  CHECK(line(saved.text, "P: f16[q, x]") == "P: f16[q, x] = exp(S[q, x] - L[q])");
  CHECK(saved.text.find("input O: f16[q, d]") != std::string::npos);
  CHECK(saved.text.find("softmax") == std::string::npos);
  const auto logarithm = ran(read_file(NAPKIN_SOURCE_DIR "/examples/logsumexp.nap"), {}, {}, {"L"});
  CHECK(line(logarithm.text, "dS: f16[r, x]") == "dS: f16[r, x] = dL[r] * exp(S[r, x] - L[r])");
  CHECK(logarithm.text.find(" log(") == std::string::npos);
  const auto plain = ran(text);
  CHECK(line(plain.text, "P: f16[q, x]") == "P: f16[q, x] = softmax[x](S[q, x])");
  CHECK(line(plain.text, "output") == "output dQ");
}

TEST_CASE("what is written is a diagram in canonical form whose gradients can be taken again") {
  for (const std::string name : {"attention", "layernorm_projection", "cross_entropy", "convolution", "block_scales"}) {
    const auto first = ran(read_file(NAPKIN_SOURCE_DIR "/examples/" + name + ".nap"));
    CAPTURE(name);
    REQUIRE(first.codes.empty());
    Sources sources;
    Diagnostics diagnostics;
    const auto file = sources.add("gradient.nap", first.text);
    read_diagram(sources, file, {}, diagnostics);
    CHECK(diagnostics.size() == 0);
    CHECK(print(sources, parse(sources, file, diagnostics)) == first.text);
    CHECK(ran(first.text).codes.empty());
  }
}

TEST_CASE("results that an array does not change are named together") {
  const auto refused = [](const std::string& of) {
    return test::run_cli({"grad", "-", "--of", of, "--wrt", "Z"},
                         "diagram d; axis x = 5; input X: f64[x]; input Z: f64[x]\n"
                         "A: f64[x] = X[x] + 1; B: f64[x] = X[x] * 2; C: f64[x] = Z[x]; output A; output B; output C")
        .err;
  };
  CHECK(refused("A").find("A does not depend on `Z`") != std::string::npos);
  CHECK(refused("A,B").find("A and B do not depend on `Z`") != std::string::npos);
}

TEST_CASE("what cannot be done is refused by its code") {
  const std::string text =
      "diagram d; axis x = 5; input X: f64[x]; input M: bool[x]; input Z: f64[x]\n"
      "A: f64[x] = where(M[x], X[x], 0); Y: f64[x] = A[x] + Z[x]; output Y";
  using Codes = std::vector<std::string>;
  CHECK(ran(text, {"B"}).codes == Codes{"E0540"});
  CHECK(ran(text, {"X"}).codes == Codes{"E0540"});
  CHECK(ran(text, {"A"}, {"Z"}).codes == Codes{"E0541"});
  CHECK(ran(text, {}, {"M"}).codes == Codes{"E0542"});
  CHECK(ran(text, {}, {}, {"L"}).codes == Codes{"E0543"});
  CHECK(ran(text, {}, {}, {"x"}).codes == Codes{"E0543"});
  CHECK(ran(text, {}, {"X"}, {"X"}).codes == Codes{"E0543"});
  CHECK(ran(text, {}, {"A"}).codes.empty());
}

TEST_CASE("a gradient says for which sizes its numbers are right") {
  const auto heading = [](const std::string& index) {
    const auto made =
        ran("diagram rel; axis q = 20; axis x = 12; axis z = q + x - 1\ninput B: f32[z]; input A: f32[q, x]\n"
            "Y[q] = sum[x](A[q, x] * B[" +
                index + "])\noutput Y",
            {}, {"B"});
    CHECK(made.codes.empty());
    return made.text.substr(0, made.text.find("diagram"));
  };
  CHECK(heading("q - x + size(x) - 1").find("alone, since an index has size(x).") != std::string::npos);
  CHECK(heading("q + x").find("alone") == std::string::npos);
}

TEST_CASE("a size of blocks is a number, and gradients say for which sizes they hold", "[grad]") {
  const auto made =
      ran("diagram d; axis x = 12; axis xb = 3; axis y = 12; axis yb = y / 6\n"
          "input S: f32[xb]; input A: f32[yb]; input B: f32[y]; output L\n"
          "L[] = sum[y](A[y / 6] * B[y]) * sum[x](S[x / 4])");
  CHECK(made.codes.empty());
  CHECK(line(made.text, "dS[") == "dS[xb]  = 4 * A_B[] * dL[]");
  CHECK(heading(made.text).find("It holds for x = 12 and xb = 3 alone") != std::string::npos);
  const auto all =
      ran("diagram d; axis a = 1; axis b = 3; axis ab = 3; input B: f32[ab]; output R\n"
          "R[] = sum[a, b](B[a + b])");
  CHECK(heading(all.text).find("It holds for a = 1, b = 3 and ab = 3 alone") != std::string::npos);
}

TEST_CASE("a wire of two equations stays in their sum", "[grad]") {
  const auto made =
      ran("diagram d; axis a = 3; axis b = 2; axis y = 4; input Q: f32[y, b]; output R\n"
          "R[] = sum[a, b](Q[a + b, a / 2])");
  CHECK(made.codes.empty());
  CHECK(line(made.text, "dQ[") ==
        "dQ[y, b] = dR[] * sum[a, b2](where(a + b2 == y and a >= 2 * b and a < 2 * b + 2, 1, 0))");
}

TEST_CASE("an array that is longer than the sum over it is spread as far as the sum goes", "[grad]") {
  const auto made =
      ran("diagram d; axis a = 4; axis b = 2; axis y = 5; axis z = 6; input Z: f32[y]; input U: f32[z]\n"
          "R[] = sum[a, b](Z[a] * U[b - a + 3]); output R",
          {}, {"U"});
  CHECK(line(made.text, "part_spread[").find("sum[a](where(-a + 4 == ") != std::string::npos);
}

TEST_CASE("an index is divided in the gradient as in the file", "[grad]") {
  const auto made =
      ran("diagram d; axis a = 2; axis f = a; input S: f32[a, f]; output R\n"
          "R[] = sum[f](sigmoid(S[f, f / 3]))");
  CHECK(made.text.find("S[a, a / 3]") != std::string::npos);
}

TEST_CASE("what receives nothing has a gradient of 0", "[grad]") {
  const auto made =
      ran("diagram d; axis a = 3; axis b = 2; input v: f32[a]; output T\n"
          "R[a] = v[a]; T[] = sum[a, b](softmax[b](R[a]))",
          {"T"}, {"R"});
  CHECK(line(made.text, "dR[") == "dR[a] = 0");
  const auto none = ran("diagram d; axis a = 4; input v: f32[a]; output R\nR[a] = silu(rsqrt(v[a]) * var[a](2))");
  CHECK(line(none.text, "dv[") == "dv[a] = 0");
}

TEST_CASE("a gradient beyond the limits of files is refused as such", "[grad]") {
  std::string chain = "P0[x] = X[x]\n";
  for (int i = 1; i < 60; ++i)
    chain += fmt::format("P{}[x] = tanh(P{}[x]) * gelu_tanh(P{}[x]) * sum[w](silu(P{}[x] + U[w]))\n", i, i - 1, i - 1,
                         i - 1);
  const auto made = ran("diagram d; axis x = 4; axis w = 3; input X: f32[x]; input U: f32[w]; output P59\n" + chain);
  REQUIRE(made.codes.size() == 1);
  CHECK(made.codes[0].starts_with("E06"));
}
