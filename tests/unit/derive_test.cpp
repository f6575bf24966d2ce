// The derivation of the streams people know, from diagrams written in several ways.
#include "napkin/derive.hpp"

#include <set>
#include <string>

#include "napkin/syntax.hpp"
#include "support/catch.hpp"

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
  CHECK(state(verdict(layer, "c")) == "count:sum mean:mean l2:sum l:sum Y:sum");
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
