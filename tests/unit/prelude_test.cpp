// Each def of the prelude against the plain loop that its comment promises.
#include <cmath>
#include <functional>
#include <numeric>

#include "napkin/syntax.hpp"
#include "support/catch.hpp"
#include "support/read.hpp"
#include "support/values.hpp"

using namespace napkin;
using Catch::Matchers::WithinAbs;

namespace {

using Row = std::vector<double>;

double total(const Row& row, const std::function<double(double)>& f) {
  double sum = 0;
  for (const double s : row) sum += f(s);
  return sum;
}
double average(const Row& row) {
  return std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
}
double variance(const Row& row) {
  const double mean = average(row);
  return total(row, [=](double s) { return (s - mean) * (s - mean); }) / static_cast<double>(row.size());
}
double sum_exp(const Row& row) {
  return total(row, [](double s) { return std::exp(s); });
}
double sum_square(const Row& row) {
  return total(row, [](double s) { return s * s; });
}

// What `NAME[x](s)` or `NAME(s)` gives for entry s of a row.
struct ByHand {
  std::string call;
  std::function<double(double s, const Row& row)> value;
};

const std::vector<ByHand>& by_hand() {
  static const std::vector<ByHand> all = {
      {"softmax[x](S[q, x])", [](double s, const Row& r) { return std::exp(s) / sum_exp(r); }},
      {"logsumexp[x](S[q, x])", [](double, const Row& r) { return std::log(sum_exp(r)); }},
      {"logsoftmax[x](S[q, x])", [](double s, const Row& r) { return s - std::log(sum_exp(r)); }},
      {"mean[x](S[q, x])", [](double, const Row& r) { return average(r); }},
      {"var[x](S[q, x])", [](double, const Row& r) { return variance(r); }},
      {"layernorm[x](S[q, x])",
       [](double s, const Row& r) { return (s - average(r)) / std::sqrt(variance(r) + 1e-5); }},
      {"rmsnorm[x](S[q, x])",
       [](double s, const Row& r) { return s / std::sqrt(sum_square(r) / static_cast<double>(r.size()) + 1e-5); }},
      {"l2norm[x](S[q, x])", [](double s, const Row& r) { return s / std::sqrt(sum_square(r)); }},
      {"gelu(S[q, x])", [](double s, const Row&) { return s * 0.5 * std::erfc(-s / std::sqrt(2.0)); }},
      {"gelu_tanh(S[q, x])",
       [](double s, const Row&) {
         return 0.5 * s * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (s + 0.044715 * s * s * s)));
       }},
      {"silu(S[q, x])", [](double s, const Row&) { return s / (1 + std::exp(-s)); }},
      {"relu6(5 * S[q, x] + 3)", [](double s, const Row&) { return std::fmin(std::fmax(5 * s + 3, 0), 6); }},
      {"leaky_relu(S[q, x], 0.1)", [](double s, const Row&) { return s > 0 ? s : 0.1 * s; }},
      {"softplus(S[q, x])", [](double s, const Row&) { return std::log1p(std::exp(s)); }},
      {"softcap(S[q, x], 0.5)", [](double s, const Row&) { return 0.5 * std::tanh(s / 0.5); }},
  };
  return all;
}

// `call` on three rows of seven, as the loop has it on every `width` numbers.
void check(const std::string& call, const ByHand& by_hand, std::size_t width) {
  CAPTURE(call);
  const auto diagram =
      read_text("diagram d; axis q = 3; axis x = 7; input S: f64[q, x]\nY: f64[q, x] = " + call + "; output Y");
  auto values = drawn_values(diagram, 7);
  evaluate(diagram, values, false);
  const auto &S = values.arrays[0], &Y = values.arrays[1];
  for (std::size_t i = 0; i < S.size(); ++i) {
    const auto begin = S.begin() + static_cast<std::ptrdiff_t>(i / width * width);
    CHECK_THAT(Y[i], WithinAbs(by_hand.value(S[i], Row(begin, begin + static_cast<std::ptrdiff_t>(width))), 1e-9));
  }
}

}  // namespace

TEST_CASE("the prelude means what its comments say") {
  for (const auto& each : by_hand()) check(each.call, each, 7);
}

TEST_CASE("a def of one axis runs over several as over their product") {
  for (const auto& each : by_hand()) {
    const auto axes = each.call.find("[x]");
    if (axes == std::string::npos) continue;
    auto over_both = each.call;
    check(over_both.replace(axes, 3, "[q, x]"), each, 21);
  }
}

TEST_CASE("every def of the prelude is tried, and has a comment above it") {
  Sources sources;
  Diagnostics diagnostics;
  const auto text = std::string(prelude_text());
  const auto file = parse(sources, sources.add("<prelude>", text), diagnostics);
  CHECK(diagnostics.size() == 0);
  for (const auto& declaration : file.declarations) {
    const auto& name = std::get<ast::Def>(declaration.node).name.text;
    CAPTURE(name);
    bool tried = false;
    for (const auto& row : by_hand()) tried = tried || row.call.substr(0, row.call.find_first_of("[(")) == name;
    CHECK(tried);
    const auto above = text.rfind('\n', declaration.span.begin - 2) + 1;
    CHECK(text[above] == '#');
  }
}
