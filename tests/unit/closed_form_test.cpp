// Closed forms of whole diagrams: the table of docs/theory.md.
#include "cost/closed_form/closed_form.hpp"

#include "cost/figures/evaluate.hpp"
#include "cost/figures/fits.hpp"
#include "cost/model/make_cost_model.hpp"
#include "support/by_hand.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/planned.hpp"
#include "support/read.hpp"

using namespace napkin;

namespace {

Hardware two_level(const std::string& room) { return read_machine("two-level", {{"M", room}}); }

Kernel kernel_of(const std::string& text, const std::string& labels, const Hardware& hardware) {
  return testing::planned(read_text(text), labels, hardware);
}

ClosedForm closed(const std::string& text, const std::string& words, const Hardware& hardware,
                  Model kind = Model::ideal) {
  const auto kernel = kernel_of(text, words, hardware);
  return closed_form(make_cost_model(kernel, hardware), kernel, hardware, kind);
}

// Of all sizes of three splits, the least exact transfers of those that fit; beside it the bound.
void check_bound(const std::string& text, const std::string& words, const std::string& room, std::int64_t most) {
  const auto hardware = two_level(room);
  const auto kernel = kernel_of(text, words, hardware);
  const auto model = make_cost_model(kernel, hardware);
  const auto form = closed_form(model, kernel, hardware, Model::ideal);
  Figures figures;
  std::int64_t least = INT64_MAX;
  for (std::int64_t x = 1; x <= most; ++x)
    for (std::int64_t y = 1; y <= most; ++y)
      for (std::int64_t z = 1; z <= 2; ++z) {
        evaluate(model, std::vector{x, y, z}, figures);
        if (fits(model, figures, Model::ideal, figures.levels.size()))
          least = std::min(least, figures.levels[1].transfer_values);
      }
  CAPTURE(words, room, least, form.H_star);
  REQUIRE(form.bound_values);
  CHECK(static_cast<double>(least) >= *form.bound_values * (1 - 1e-6));
  CHECK(static_cast<double>(least) <= *form.bound_values * 1.5);
}

const std::string matmul = R"(diagram matmul
axis a = 4096; axis b = 4096; axis c = 4096
input A: f16[a, b]
input B: f16[b, c]
C: f16[a, c] = sum[b](A[a, b] * B[b, c])
output C
)";
std::string attention(const std::string& axes) {
  return "diagram attention\n" + axes + R"(
input Q: f16[q, d]
input K: f16[x, d]
input V: f16[x, d]
S[q, x] = sum[d](Q[q, d] * K[x, d]) / sqrt(size(d))
O: f16[q, d] = sum[x](softmax[x](S[q, x]) * V[x, d])
output O
)";
}
const std::string sizes = "axis q = 4096; axis x = 4096; axis d = 128";
const std::string grouped_query = R"(diagram grouped_query
axis h = 8; axis r = 4; axis q = 4096; axis x = 4096; axis d = 128
input Q: f16[h, r, q, d]
input K: f16[h, x, d]
input V: f16[h, x, d]
S[h, r, q, x] = sum[d](Q[h, r, q, d] * K[h, x, d])
O: f16[h, r, q, d] = sum[x](softmax[x](S[h, r, q, x]) * V[h, x, d])
output O
)";

}  // namespace

TEST_CASE("matmul: square tiles") {
  const auto form = closed(matmul, "group a 99, c 99, stream b 1 at low", two_level("10000"));
  CHECK(form.H == "a*b*c/g_a + a*b*c/g_c + a*c");
  CHECK(form.M == "g_a*g_c + g_a*s_b + g_c*s_b");
  CHECK(form.H_star == "2*a*b*c*M^(-1/2) + a*c");
  REQUIRE(form.terms.size() == 2);
  CHECK(form.terms[0].alpha == "2*a*b*c");
  CHECK(form.terms[0].alpha_value == Approx(2 * std::pow(4096.0, 3)));
  CHECK(form.terms[0].beta == Approx(0.5));
  CHECK(form.terms[1].alpha == "a*c");
  CHECK(form.terms[1].beta == 0);
  CHECK(form.dropped == std::vector<std::string>{"g_a*s_b", "g_c*s_b"});
  REQUIRE(form.bound_values);
  CHECK(*form.bound_values == Approx(1.39117e9).epsilon(1e-5));
}

TEST_CASE("attention: keys and values go to every group of queries") {
  const auto form = closed(attention(sizes), "group q 16, stream x 16 at low", two_level("10000"));
  CHECK(form.H == "2*d*q*x/g_q + 2*d*q");
  CHECK(form.M == "2*d*g_q + 2*d*s_x");
  CHECK(form.H_star == "4*d^2*q*x/M + 2*d*q");
  REQUIRE(form.terms.size() == 2);
  CHECK(form.terms[0].alpha == "4*d^2*q*x");
  CHECK(form.terms[0].beta == Approx(1));
  CHECK(form.dropped == std::vector<std::string>{"2*d*s_x"});
  CHECK(form.bound_values.value() == Approx(4.0 * 128 * 128 * 4096 * 4096 / 10000 + 2.0 * 128 * 4096));
}

TEST_CASE("heads are shared out without a price") {
  auto text = attention("axis h = 16; " + sizes);
  for (const auto* name : {"Q: f16[", "K: f16[", "V: f16[", "S[", "O: f16[", "Q[", "K[", "V["})
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
      text.insert(at + std::string(name).size(), "h, ");
  const auto form = closed(text, "group h 1, q 16, stream x 16 at low", two_level("10000"));
  CHECK(form.H == "2*d*h*q*x/g_q + 2*d*h*q");
  CHECK(form.M == "2*d*g_h*g_q + 2*d*g_h*s_x");
  CHECK(form.H_star == "4*d^2*h*q*x/M + 2*d*h*q");
}

TEST_CASE("grouped-query: the query heads of one key head count as more queries") {
  const auto form = closed(grouped_query, "group h 1, r 4, q 16, stream x 16 at low", two_level("10000"));
  CHECK(form.H == "2*d*h*q*r*x/(g_q*g_r) + 2*d*h*q*r");
  CHECK(form.M == "2*d*g_h*g_q*g_r + 2*d*g_h*s_x");
  CHECK(form.H_star == "4*d^2*h*q*r*x/M + 2*d*h*q*r");
}

TEST_CASE("axes without sizes have closed forms and no numbers") {
  const auto form = closed(attention("axis q; axis x; axis d"), "group q 16, stream x 16 at low", two_level("10000"));
  CHECK(form.H_star == "4*d^2*q*x/M + 2*d*q");
  CHECK(form.terms.at(0).alpha_value == 0);
  CHECK_FALSE(form.bound_values);
}

TEST_CASE("where the room is in bytes, the bound weighs each value with its bytes") {
  auto bytes = two_level("20000"), values = two_level("10000");
  bytes.levels[1].in_values = false;
  const std::string words = "group q 16, stream x 16 at low";
  const auto in_bytes = closed(attention(sizes), words, bytes), in_values = closed(attention(sizes), words, values);
  CHECK(in_bytes.H_star == in_values.H_star);
  CHECK(in_bytes.bound_values.value() == Approx(*in_values.bound_values));
}

TEST_CASE("where nothing can be grouped everything moves once") {
  const auto form = closed(matmul, "stream b 16 at low", two_level("10000"));
  CHECK(form.H == "a*b + a*c + b*c");
  CHECK(form.H_star == form.H);
  CHECK(form.terms.size() == 1);
  CHECK(form.bound_values.value() == Approx(3.0 * 4096 * 4096));
}

TEST_CASE("what has no symbolic answer is solved by numbers and says so") {
  const auto form = closed(attention(sizes), "group q 16, d' 16, stream x 16 at low", two_level("10000"));
  CHECK(form.H_star.find("numeric, near M = 10000 values") != std::string::npos);
  REQUIRE(form.terms.size() == 2);
  CHECK(form.terms[0].beta > 0.5);
  const auto whole = closed(attention(sizes), "group q 16, stream x 16 at low", two_level("10000"));
  CHECK(form.bound_values.value() > 0.9 * *whole.bound_values);
}

TEST_CASE("the exact model counts what the largest column holds") {
  const auto form = closed(matmul, "group a 64, c 64, stream b 1 at low", two_level("10000"), Model::machine);
  CHECK(form.M.find("g_a*g_c") != std::string::npos);
  CHECK(form.H_star == "2*a*b*c*M^(-1/2) + a*c");
}

TEST_CASE("affine indices reach the pieces of their wires") {
  const auto form = closed(R"(diagram convolution
axis u = 100; axis i = 5; axis n = 104
input X: f32[n]
input W: f32[i]
Y[u] = sum[i](X[u + i] * W[i])
output Y
)",
                           "group u 10 at low", two_level("50"));
  CHECK(form.H == "2*i*u/g_u + 2*u");
  CHECK(form.M.find("g_u") != std::string::npos);
}

TEST_CASE("where all of the axes fit the room no longer matters") {
  const auto form = closed(matmul, "group a 64, stream c 64, b 1 at low", two_level("1e9"), Model::machine);
  const auto ideal = closed(attention(sizes), "group q 16, d' 16, stream x 16 at low", two_level("1e9"));
  CHECK(form.terms.size() == 2);
  CHECK(ideal.terms.at(0).beta == 0);
  CHECK(ideal.H_star.find("M^") == std::string::npos);
  CHECK(ideal.bound_values.value() == Approx(4.0 * 128 * 4096).epsilon(1e-4));
}

TEST_CASE("what does not fit at all has no bound") {
  const auto form = closed(matmul, "group a 1 at low", two_level("100"));
  CHECK(form.H_star.find("(least of a*b*c/g_a where ") == 0);
  CHECK_FALSE(form.bound_values);
}

TEST_CASE("no sizes that fit move less than the bound, and some come near it") {
  const std::string small =
      "diagram m\naxis a = 60; axis b = 50; axis c = 40\ninput A: f16[a, b]\ninput B: f16[b, c]\n"
      "C[a, c] = sum[b](A[a, b] * B[b, c])\noutput C\n";
  for (const auto* room : {"100", "300"}) check_bound(small, "group a 4, c 4, stream b 1 at low", room, 40);
  const auto heads = attention("axis q = 40; axis x = 36; axis d = 8");
  for (const auto* room : {"100", "300"}) {
    check_bound(heads, "group q 4, d' 4, stream x 4 at low", room, 40);
  }
}
