// The derivation of the streams people know, from diagrams written in several ways.
#include "napkin/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "napkin/syntax.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

struct Derived {
  Diagram diagram;
  Derivation derivation;
};

Derived derived(const std::string& text) {
  Sources sources;
  Diagnostics diagnostics;
  const auto file = sources.add("test.nap", text);
  Derived all;
  all.diagram = read_diagram(sources, file, {}, diagnostics);
  INFO(render_text(sources, diagnostics, false));
  REQUIRE(!diagnostics.has_errors());
  std::vector<StatementId> statements;
  for (std::uint32_t i = 0; i < all.diagram.statements.size(); ++i) statements.push_back({i});
  all.derivation = derive(all.diagram, statements);
  return all;
}

const Verdict& verdict(const Derived& all, const std::string& wire) {
  for (const auto& v : all.derivation.verdicts)
    if (all.diagram.at(v.wire).name == wire) return v;
  FAIL("no wire " << wire);
  return all.derivation.verdicts[0];
}

std::string listed(const Diagram& scratch, const std::vector<Column>& columns) {
  std::string text;
  for (const auto& column : columns) text += (text.empty() ? "" : "; ") + to_text(scratch, column);
  return text;
}

std::string state(const Verdict& verdict) {
  const auto& s = std::get<Streamable>(verdict.stream);
  std::string text;
  for (const auto& carried : s.state)
    text += (text.empty() ? "" : " ") + s.scratch.at(carried.array).name + ":" +
            std::string(carried.combine ? carried.combine->name : "mean");
  return text;
}

std::string rules(const Verdict& verdict) {
  std::string text;
  for (const auto rule : std::get<Streamable>(verdict.stream).rules)
    text += (text.empty() ? "" : " ") + std::string(code(rule));
  return text;
}

const std::string axes = "diagram t\naxis q = 64; axis x = 64; axis d = 16\n";
const std::string inputs = "input Q: f16[q, d]\ninput K: f16[x, d]\ninput V: f16[x, d]\n";
const std::string scores = "S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))\n";
std::string attention(const std::string& middle) { return axes + inputs + scores + middle + "output O\n"; }

}  // namespace

TEST_CASE("attention streams over its keys with maximum, sum and output") {
  const auto all = derived(attention("P[q, x] = softmax[x](S[q, x])\nO[q, d] = sum[x](P[q, x] * V[x, d])\n"));
  const auto& x = verdict(all, "x");
  CHECK(state(x) == "m:max l:sum O:sum");
  CHECK(rules(x) == "S3 S5 S6");
  const auto& s = std::get<Streamable>(x.stream);
  CHECK(listed(s.scratch, s.init) == "m = -inf; l = 0; O = 0");
  CHECK(
      listed(s.scratch, s.absorb) ==
      "n = max(m, max[x](S)); r = exp(m - n); p = exp(S - n); l = r * l + sum[x](p); O = r * O + sum[x](p * V); m = n");
  CHECK(listed(s.scratch, s.merge) ==
        "n = max(m, m'); r = exp(m - n); r' = exp(m' - n); l = r * l + r' * l'; O = r * O + r' * O'; m = n");
  CHECK(listed(s.scratch, s.finish) == "O = O / l");
  CHECK(std::get<Groupable>(x.group).by_merge);
  CHECK(x.passes == 1);
}

TEST_CASE("every way to write the same function derives the same state") {
  const std::string contraction = "O[q, d] = sum[x](P[q, x] * V[x, d])\n";
  const auto written = GENERATE_COPY(values<std::string>({
      "def foo[a](s) = exp(s - max[a](s)) / sum[a](exp(s - max[a](s)))\nP[q, x] = foo[x](S[q, x])\n" + contraction,
      "P[q, x] = exp(S[q, x]) / sum[x](exp(S[q, x]))\n" + contraction,
      "P[q, x] = exp(S[q, x] - max[x](S[q, x])) / sum[x](exp(S[q, x]-max[x](S[q, x])))\n" + contraction,
      "P[q, x] = exp(S[q, x] - logsumexp[x](S[q, x]))\n" + contraction,
      "E[q, x] = exp(S[q, x])\nO[q, d] = sum[x](E[q, x] * V[x, d]) / sum[x](E[q, x])\n",
      "M[q] = max[x](S[q, x])\nE[q, x] = exp(S[q, x] - M[q])\nL[q] = sum[x](E[q, x])\nP[q, x] = E[q, x] / L[q]\n" +
          contraction,
      "O[q, d] = sum[x](exp(S[q, x]) * V[x, d]) / sum[x](exp(S[q, x]))\n",
      "P[q, x] = exp2(S[q, x]) / sum[x](exp2(S[q, x]))\n" + contraction,
  }));
  INFO(written);
  const auto all = derived(attention(written));
  const auto& s = std::get<Streamable>(verdict(all, "x").stream);
  std::set<std::string> carried;
  for (const auto& c : s.state) {
    const auto& array = s.scratch.at(c.array);
    carried.insert(std::string(c.combine->name) + "/" + std::to_string(array.wires.size()));
  }
  CHECK(s.state.size() == 3);
  CHECK(carried == std::set<std::string>{"max/1", "sum/1", "sum/2"});
  // The repair keeps every exponential relative to the running maximum, and it cancels in the end.
  const auto finish = listed(s.scratch, s.finish);
  CHECK((finish == "O = O / l" || finish == "O = O / L"));
  CHECK(listed(s.scratch, s.absorb).find("r = exp(") != std::string::npos);
}

TEST_CASE("a cast inside rounds the piece and is said") {
  const auto all = derived(attention("P: f16[q, x] = softmax[x](S[q, x])\nO: f16[q, d] = sum[x](P[q, x] * V[x, d])\n"));
  const auto& s = std::get<Streamable>(verdict(all, "x").stream);
  CHECK(state(verdict(all, "x")) == "m:max l:sum O:sum");
  CHECK(s.notes == std::vector<std::string>{"rounds the piece to f16, not the finished value"});
  CHECK(listed(s.scratch, s.absorb).find("p_f16 = p; O = r * O + sum[x](p_f16 * V)") != std::string::npos);
}

TEST_CASE("the two widths of attention come apart") {
  const auto all = derived(attention("P[q, x] = softmax[x](S[q, x])\nO[q, d] = sum[x](P[q, x] * V[x, d])\n"));
  CHECK(std::holds_alternative<Refused>(verdict(all, "d").group));
  CHECK(state(verdict(all, "d")) == "S:sum");
  const auto& group = std::get<Groupable>(verdict(all, "d'").group);
  CHECK_FALSE(group.by_merge);
  CHECK_FALSE(group.recomputed.empty());
}

TEST_CASE("a bare normalisation needs two passes") {
  const auto all =
      derived("diagram t\naxis q = 8; axis x = 8\ninput S: f32[q, x]\nP[q, x] = softmax[x](S[q, x])\noutput P\n");
  const auto& x = verdict(all, "x");
  CHECK(x.passes == 2);
  const auto& refused = std::get<Refused>(x.stream);
  CHECK(refused.reason.find("`P` keeps `x` but needs all of it first") == 0);
  CHECK(std::holds_alternative<Groupable>(verdict(all, "q").group));
}

TEST_CASE("norms before a contraction wait for finish") {
  const std::string head = "diagram t\naxis t = 8; axis c = 16; axis o = 8\ninput X: f16[t, c]\ninput W: f16[c, o]\n";
  const auto rms = derived(head + "Y[t, o] = sum[c](rmsnorm[c](X[t, c]) * W[c, o])\noutput Y\n");
  CHECK(rules(verdict(rms, "c")) == "S5 S6");
  CHECK(std::get<Streamable>(verdict(rms, "c").stream).state.size() == 2);
  const auto layer = derived(head + "Y[t, o] = sum[c](layernorm[c](X[t, c]) * W[c, o])\noutput Y\n");
  CHECK(rules(verdict(layer, "c")) == "S4 S5 moments");
  CHECK(state(verdict(layer, "c")) == "mean:mean count:sum l:sum l2:sum l3:sum Y:sum");
}

TEST_CASE("what does not separate is refused in the words of the file") {
  const auto all = derived(
      "diagram t\naxis q = 8; axis x = 8\ninput S: f32[q, x]\nY[q] = sum[x](tanh(S[q, x] - max[x](S[q, x])))\noutput "
      "Y\n");
  const auto& refused = std::get<Refused>(verdict(all, "x").stream);
  CHECK(refused.reason.find("tanh(S[q, x] - m[q])") != std::string::npos);
  CHECK(verdict(all, "x").passes == 2);
}

TEST_CASE("exponentials that nothing divides are left as the file has them") {
  const auto all = derived(
      "diagram t\naxis q = 8; axis x = 8; axis d = 4\ninput S: f32[q, x]\ninput V: f32[x, d]\n"
      "O[q, d] = sum[x](exp(S[q, x]) * V[x, d])\noutput O\n");
  CHECK(state(verdict(all, "x")) == "O:sum");
}

TEST_CASE("a sum of exponentials under a logarithm cannot overflow") {
  const auto all =
      derived("diagram t\naxis q = 8; axis x = 8\ninput S: f32[q, x]\nL[q] = log(sum[x](exp(S[q, x])))\noutput L\n");
  const auto& s = std::get<Streamable>(verdict(all, "x").stream);
  CHECK(state(verdict(all, "x")) == "m:max L:sum");
  CHECK(listed(s.scratch, s.finish) == "L = m + log(L)");
}

namespace {

std::string refusal(const Derived& all, const std::string& wire) {
  const auto& refused = std::get<Refused>(verdict(all, wire).stream);
  return refused.mend.empty() ? refused.reason : refused.reason + " | " + refused.mend;
}

const std::string rows = "diagram t\naxis q = 8; axis x = 8; axis y = 4\ninput S: f32[q, x]\ninput T: f32[q, x, y]\n";

// The trace as text: rule, before -> after.
std::string traced(const Verdict& verdict) {
  const auto& s = std::get<Streamable>(verdict.stream);
  std::string text;
  for (const auto& step : s.trace)
    text += std::string(code(step.rule)) + " " + s.scratch.at(step.array).name + ": " +
            to_short_text(s.scratch, step.before) + " -> " + to_short_text(s.scratch, step.after) + "\n";
  return text;
}

std::vector<WireId> wires(const Derived& all, const std::vector<std::string>& names) {
  std::vector<WireId> found;
  for (const auto& name : names) found.push_back(*find_wire(all.diagram, name));
  return found;
}

}  // namespace

TEST_CASE("a bare normalisation is told what would mend it") {
  const auto all = derived(rows + "P[q, x] = softmax[x](S[q, x])\noutput P\n");
  CHECK(refusal(all, "x") ==
        "`P` keeps `x` but needs all of it first | fuse it with a statement that reduces `x`, or keep `x` whole");
}

TEST_CASE("what is chosen by a distance from a finished reduction is known too late") {
  const auto top = derived(rows + "Y[q] = sum[x](where(S[q, x] >= max[x](S[q, x]) - 1, S[q, x], 0))\noutput Y\n");
  CHECK(refusal(top, "x").find("whether `S[q, x] >= m[q] - 1` holds is known only after all of `x`") !=
        std::string::npos);
  CHECK(verdict(top, "x").passes == 2);
}

TEST_CASE("a chain of such choices needs a pass for each") {
  const auto all = derived(rows +
                           "A[q] = max[x](S[q, x])\nB[q] = max[x](where(S[q, x] < A[q] - 1, S[q, x], -inf))\n"
                           "C[q] = max[x](where(S[q, x] < B[q] - 1, S[q, x], -inf))\noutput C\n");
  CHECK(verdict(all, "x").passes == 3);
}

TEST_CASE("what stands at the greatest begins anew when a greater comes, and the next greatest follows it") {
  const auto place = derived(rows + "Y[q] = sum[x](where(S[q, x] == max[x](S[q, x]), x, 0))\noutput Y\n");
  CHECK(state(verdict(place, "x")) == "m:max Y:sum");
  const auto& s = std::get<Streamable>(verdict(place, "x").stream);
  CHECK(listed(s.scratch, s.absorb) ==
        "n = max(m, max[x](S)); Y = where(m == n, Y, 0); Y = Y + sum[x](where(S == n, x, 0)); m = n");
  CHECK(listed(s.scratch, s.merge) == "n = max(m, m'); Y = where(m == n, Y, 0) + where(m' == n, Y', 0); m = n");
  const auto second = derived(rows + "Y[q] = max[x](where(S[q, x] < max[x](S[q, x]), S[q, x], -inf))\noutput Y\n");
  CHECK(state(verdict(second, "x")) == "m:max m2:max");
  CHECK(verdict(second, "x").passes == 1);
}

TEST_CASE("a value that another piece computes is not at hand") {
  const auto all = derived(
      "diagram t\naxis x = 8; axis z = 7\ninput A: f32[x]\nB[x] = exp(A[x])\nY[z] = B[z] + B[z + 1]\noutput Y\n");
  CHECK(std::holds_alternative<Streamable>(verdict(all, "x").stream));
  const auto summed = derived(
      "diagram t\naxis x = 8\ninput A: f32[x]\nB[x] = exp(A[x])\n"
      "Y[] = sum[x](B[x] * B[size(x) - 1 - x])\noutput Y\n");
  CHECK(refusal(summed, "x") ==
        "`Y` reduces over `x` and reads `B[-x + 7]`, which another piece may compute | replace the read by the "
        "expression of `B`, or end the kernel after `B`");
}

TEST_CASE("a rounding in the way is named") {
  const auto all = derived(rows + "Y[q] = sum[x](f16(S[q, x] + sum[x](S[q, x])) * S[q, x])\noutput Y\n");
  CHECK(std::holds_alternative<Streamable>(verdict(all, "x").stream));
  const auto squared = derived(rows + "Y[q] = sum[x](f16(relu(S[q, x] + sum[x](S[q, x]))) * S[q, x])\noutput Y\n");
  CHECK(refusal(squared, "x").find("cannot be separated") != std::string::npos);
}

TEST_CASE("an extreme of what may change sign carries both extremes, and one where it cannot") {
  const std::string body = "Y[q] = max[x](S[q, x] * ";
  const auto signs = derived(rows + body + "sum[x](S[q, x]))\noutput Y\n");
  CHECK(state(verdict(signs, "x")) == "l:sum Y:max w:min");
  CHECK(listed(std::get<Streamable>(verdict(signs, "x").stream).scratch,
               std::get<Streamable>(verdict(signs, "x").stream).finish) == "Y = where(l >= 0, l * Y, l * w)");
  const auto known = derived(rows + body + "abs(sum[x](S[q, x])))\noutput Y\n");
  CHECK(state(verdict(known, "x")) == "l:sum Y:max");
  const auto choice = derived(
      "diagram t\naxis q = 8; axis x = 8\ninput A: f32[q, x]; input B: f32[q, x]\n"
      "Y[q] = sum[x](where(sum[x](B[q, x]) > 0, A[q, x], B[q, x]))\noutput Y\n");
  CHECK(rules(verdict(choice, "x")) == std::string(code(Rule::finish)) + " " + std::string(code(Rule::cascade)));
}

TEST_CASE("products stream, but no power of a finished factor is taken apart from them") {
  const auto plain = derived(rows + "Y[q] = prod[x](1 + S[q, x])\noutput Y\n");
  CHECK(state(verdict(plain, "x")) == "Y:prod");
  // 61 numbers of a size of 1e3 are about one each relative to their root mean square, and their product is 1e183.
  for (const std::string scale : {"max[x](S[q, x])", "sqrt(mean[x](S[q, x]^2))", "(1 + abs(mean[x](S[q, x])))"}) {
    const auto scaled = derived(rows + "Y[q] = prod[x](S[q, x] / " + scale + ")\noutput Y\n");
    CHECK(refusal(scaled, "x").find("at every position: a power of it") != std::string::npos);
    CHECK(verdict(scaled, "x").passes == 2);
  }
  const auto shifted = derived(rows + "Y[q] = prod[x](S[q, x] - max[x](S[q, x]))\noutput Y\n");
  CHECK(refusal(shifted, "x").find("cannot be separated") != std::string::npos);
}

TEST_CASE("an extreme that is kept relative to a maximum is not multiplied while it is of nothing") {
  const std::string exponentials = "diagram t\naxis q = 8; axis x = 8\ninput S: f32[q, x]\ninput W: f32[q, x]\n";
  const auto all = derived(exponentials + "Y[q] = max[x](W[q, x] * exp(S[q, x] - max[x](S[q, x])))\noutput Y\n");
  const auto& s = std::get<Streamable>(verdict(all, "x").stream);
  CHECK(listed(s.scratch, s.absorb) ==
        "n = max(m, max[x](S)); r = exp(m - n); Y = where(Y == -inf, -inf, r * Y); "
        "Y = max(Y, max[x](W * exp(S - n))); m = n");
  // Where nothing is subtracted a maximum would not cancel.
  const auto plain = derived(exponentials + "Y[q] = max[x](W[q, x] * exp(S[q, x]))\noutput Y\n");
  CHECK(state(verdict(plain, "x")) == "Y:max");
}

TEST_CASE("cascades of three and more reductions take one pass") {
  const auto spread =
      derived(attention("P[q, x] = softmax[x](S[q, x])\nO[q, d] = sum[x](P[q, x] * V[x, d])\n"
                        "R[q, d] = sum[x](P[q, x] * (V[x, d] - O[q, d])^2)\noutput R\n"));
  CHECK(verdict(spread, "x").passes == 1);
  CHECK(state(verdict(spread, "x")) == "mean:mean m:max l:sum O:sum R:sum");
  const auto norms =
      derived(rows +
              "A[q, x] = S[q, x] / sum[x](abs(S[q, x]))\nB[q, x] = A[q, x] / sqrt(sum[x](A[q, x]^2))\n"
              "C[q, x] = B[q, x] / max[x](abs(B[q, x]))\nY[q, y] = sum[x](C[q, x] * T[q, x, y])\noutput Y\n");
  CHECK(verdict(norms, "x").passes == 1);
  CHECK(std::get<Streamable>(verdict(norms, "x").stream).state.size() == 4);
}

TEST_CASE("one reduction streams along several of its axes at once") {
  for (const std::string body : {"sum[x, y](T[q, x, y])", "log(sum[x, y](exp(T[q, x, y])))", "max[x, y](T[q, x, y])",
                                 "sum[x, y](exp(T[q, x, y] - max[x, y](T[q, x, y])))"}) {
    CAPTURE(body);
    const auto all = derived(rows + "Y[q] = " + body + "\noutput Y\n");
    const auto result = stream(all.derivation, wires(all, {"x", "y"}));
    REQUIRE(std::holds_alternative<Program>(result));
    // One state serves both: the loop over y stands inside that over x and nothing stands between them.
    const auto& steps = std::get<Program>(result).steps;
    const auto outer = std::ranges::find_if(steps, [](const Step& step) { return std::holds_alternative<Loop>(step); });
    REQUIRE(outer != steps.end());
    const auto& body_of_x = std::get<Loop>(*outer).body;
    REQUIRE(body_of_x.size() == 1);
    CHECK(std::holds_alternative<Loop>(body_of_x[0]));
  }
}

TEST_CASE("constant factors leave a sum, so that a product of two arrays is left") {
  const auto all = derived(axes + inputs + "S[q, x] = sum[d](Q[q, d] * K[x, d] / sqrt(size(d)))\noutput S\n");
  CHECK(listed(all.derivation.scratch, all.derivation.columns) == "S = sum[d](Q * K); S = S / sqrt(size(d))");
  REQUIRE(all.derivation.trace.size() == 1);
  const auto& step = all.derivation.trace[0];
  CHECK(to_short_text(all.derivation.scratch, step.before) == "sum[d](Q * K / sqrt(size(d)))");
  CHECK(to_short_text(all.derivation.scratch, step.after) == "sum[d](Q * K) / sqrt(size(d))");
  CHECK(step.rule == Rule::invariant);
}

TEST_CASE("no array that the derivation makes is called like an axis") {
  const auto all = derived(
      "diagram d\naxis t = 8; axis l = 4; axis m = 4\ninput X: f16[t, l]\ninput W: f16[l, m]\n"
      "P[t, l] = rmsnorm[l](X[t, l])\nY[t, m] = sum[l](P[t, l] * W[l, m])\noutput Y\n");
  std::set<std::string> names;
  for (const auto& array : all.derivation.scratch.arrays) names.insert(array.name);
  CHECK(names.size() > 4);
  for (const auto* axis : {"t", "l", "m"}) CHECK(!names.contains(axis));
}

TEST_CASE("the trace shows every step with what was before and after") {
  const auto all = derived(attention("P[q, x] = softmax[x](S[q, x])\nO[q, d] = sum[x](P[q, x] * V[x, d])\n"));
  const auto text = traced(verdict(all, "x"));
  INFO(text);
  for (const std::string step :
       {"S3 O: sum[x](P * V) -> sum[x](exp(S - m) * V / l)\n",
        "S5 O: sum[x](exp(S - m) * V / l) -> exp(-m) * sum[x](exp(S) * V) / l\n",
        "S5 O: sum[x](exp(S) * V) -> exp(m) * sum[x](exp(S - m) * V)\n",
        "S5 O: sum[x](V * exp(S - n)) -> r * O + sum[x](V * exp(S - n))\n", "S4 O: sum[x](P * V) -> O / l\n"})
    CHECK(text.find(step) != std::string::npos);
}

TEST_CASE("what a written-out exponential reads stands in front of the loop") {
  const auto all = derived(
      "diagram t\naxis q = 8; axis x = 8\ninput S: f32[q]\ninput T: f32[x]\nA[] = sum[q](S[q])\n"
      "B[x] = exp(T[x] * A[])\nC[] = min[x](B[x])\noutput C\n");
  const auto& s = std::get<Streamable>(verdict(all, "x").stream);
  CHECK(listed(s.scratch, s.before) == "A = sum[q](S)");
  CHECK(listed(s.scratch, s.absorb) == "C = min(C, min[x](T * A))");
  CHECK(listed(s.scratch, s.finish) == "C = exp(C)");
}

TEST_CASE("an array of the kernel that is read at other positions is not split in space") {
  const auto all = derived(
      "diagram d\naxis t = 6; axis x = 6; axis c = 4\ninput X: f32[t, c]; input W: f32[c]\n"
      "K[t] = sum[c](X[t, c] * W[c])\nA[t] = sum[x](K[t] * K[x])\noutput A\n");
  const auto& refused = std::get<Refused>(verdict(all, "t").group);
  CHECK(refused.reason.find("reads K[x] at other positions of `t`") != std::string::npos);
}

TEST_CASE("a long chain of statements that read the one before several times is derived in moments") {
  std::string text = "diagram chain; axis a = 64; axis b = 64; input C0: f32[a, b]\n";
  for (int i = 1; i <= 24; ++i) text += fmt::format("C{0}[a, b] = C{1}[a, b] * C{1}[a, b] + C{1}[a, b]\n", i, i - 1);
  const auto diagram = read_text(text + "S[a] = sum[b](C24[a, b])\noutput S\n");
  std::vector<StatementId> all;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) all.push_back({i});
  const auto derivation = derive(diagram, all);
  CHECK(std::holds_alternative<Streamable>(derivation.find(*find_wire(diagram, "b"))->stream));
}
