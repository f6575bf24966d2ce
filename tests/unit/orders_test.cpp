// Orders of contraction: what the forms of a diagram are, which are refused, and what a plan makes of them.
#include "derive/orders/orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <random>

#include "napkin/search.hpp"
#include "napkin/verify.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"

using namespace napkin;
using namespace napkin::orders;

namespace {

constexpr const char* head =
    "diagram t\naxis q = 64; axis x = 64; axis d = 4; axis e = 4; axis f = 4; axis h = 2\n"
    "input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, e]; input W: f16[e, f]; input G: f16[q, e]\n"
    "input w: f32[x]; input I: i8[q, d]; input J: i8[x, d]; input L: i8[x, e]\n"
    "input H: f16[h, q, d]; input M: f16[h, x, d]; input N: f16[h, x, e]\n";

Diagram of(const std::string& statements, const std::string& outputs = "output Y\n") {
  return read_text(head + statements + "\n" + outputs);
}
std::vector<std::string> statements_of(const Diagram& diagram) {
  std::vector<std::string> all;
  for (const auto& one : diagram.statements) {
    const auto& array = diagram.at(one.output);
    all.push_back(fmt::format("{}: {} = {}", array.name, row(array.type).name, to_short_text(diagram, one.value)));
  }
  return all;
}
using Lines = std::vector<std::string>;
// The statements of the form with the fewest operations, of a diagram with one contraction.
Lines best_form(const std::string& statements, const std::string& outputs = "output Y\n") {
  const auto all = contractions(of(statements, outputs));
  REQUIRE(all.size() == 1);
  REQUIRE_FALSE(all[0].forms.empty());
  CHECK(verify(all[0].forms.front().diagram).empty());
  return statements_of(all[0].forms.front().diagram);
}
bool has_no_form(const std::string& statements) {
  return std::ranges::all_of(contractions(of(statements)), [](const auto& one) { return one.forms.empty(); });
}

}  // namespace

TEST_CASE("two sums change places") {
  const Lines expected{"KV: f32 = sum[x](K * V)", "Y: f16 = sum[d](Q * KV)"};
  CHECK(best_form("S[q, x] = sum[d](Q[q, d] * K[x, d]); Y: f16[q, e] = sum[x](S[q, x] * V[x, e])") == expected);
  CHECK(best_form("Y: f16[q, e] = sum[x](sum[d](Q[q, d] * K[x, d]) * V[x, e])") == expected);
  CHECK(best_form("Y: f16[q, e] = sum[d, x](Q[q, d] * K[x, d] * V[x, e])") == expected);
  CHECK(best_form("Y: f16[h, q, e] = sum[x](sum[d](H[h, q, d] * M[h, x, d]) * N[h, x, e])")[0] ==
        "MN: f32 = sum[x](M * N)");
}

TEST_CASE("what only the result varies along, numbers and quotients stand outside") {
  CHECK(best_form("Y[q, e] = sum[x](sum[d](Q[q, d] * K[x, d]) / sqrt(size(d)) * V[x, e]) / G[q, e]") ==
        Lines{"KV: f32 = sum[x](K * V)", "Y: f32 = sum[d](Q * KV) / sqrt(size(d)) / G"});
  CHECK(best_form("Y[q, e] = exp(-sum[x](-sum[d](Q[q, d] * K[x, d]) * V[x, e] / (1 + w[x])))") ==
        Lines{"KV: f32 = sum[x](K / (1 + w) * V)", "Y: f32 = exp(-(-1 * sum[d](Q * KV)))"});
}

TEST_CASE("what is summed of one factor alone is summed first") {
  CHECK(best_form("Y[q] = sum[x](sum[d](Q[q, d] * K[x, d]))") ==
        Lines{"sum_of_K: f32 = sum[x](K)", "Y: f32 = sum[d](Q * sum_of_K)"});
}

TEST_CASE("sums may also be greatest values of sums") {
  CHECK(best_form("Y[q, e] = max[x](max[d](Q[q, d] + K[x, d]) + V[x, e])") ==
        Lines{"KV: f32 = max[x](K + V)", "Y: f32 = max[d](Q + KV)"});
  CHECK(best_form("Y[q, e] = min[x](min[d](Q[q, d] - K[x, d]) + V[x, e])")[0] == "VK: f32 = min[x](V + (0 - K))");
  CHECK(best_form("Y[q, e] = max[x](max[d](abs(Q[q, d]) * exp(K[x, d])) * abs(V[x, e]))")[0] ==
        "KV: f32 = max[x](exp(K) * abs(V))");
  CHECK(has_no_form("Y[q, e] = max[x](max[d](Q[q, d] * K[x, d]) * V[x, e])"));    // a factor may be negative
  CHECK(has_no_form("Y[q, e] = max[x](sum[d](Q[q, d] * K[x, d]) + V[x, e])"));    // of two kinds
  CHECK(has_no_form("Y[q, e] = prod[x](prod[d](Q[q, d] * K[x, d]) * V[x, e])"));  // nothing distributes
}

TEST_CASE("functions, conditions and roundings stay between") {
  for (const std::string between :
       {"exp(S[q, x])", "where(x <= q, S[q, x], 0)", "(S[q, x] + 1)", "f16(S[q, x])", "S[q, x]^2"}) {
    CAPTURE(between);
    CHECK(has_no_form("S[q, x] = sum[d](Q[q, d] * K[x, d]); Y[q, e] = sum[x](" + between + " * V[x, e])"));
  }
  CHECK(has_no_form("S: f16[q, x] = sum[d](Q[q, d] * K[x, d]); Y[q, e] = sum[x](S[q, x] * V[x, e])"));
}

TEST_CASE("a rounding that forbids an order is told, and what it costs") {
  for (const std::string statements : {"S: f16[q, x] = sum[d](Q[q, d] * K[x, d]); Y[q, e] = sum[x](S[q, x] * V[x, e])",
                                       "Y[q, e] = sum[x](f16(sum[d](Q[q, d] * K[x, d])) * V[x, e])"}) {
    const auto all = contractions(of(statements));
    REQUIRE(all.size() == 1);
    CHECK(all[0].forms.empty());
    REQUIRE(all[0].refused);
    CHECK(all[0].refused->rounded.size() == 1);
    CHECK(all[0].refused->rounded[0].ends_with(" to f16"));
    CHECK(all[0].refused->operations_as_written == 2 * 64 * 64 * 8);
    CHECK(all[0].refused->operations == 4 * 64 * 16);
    CHECK(statements_of(all[0].refused->diagram)[0] == "KV: f32 = sum[x](K * V)");
  }
  // An output is stored as it is in any case, and an order that is no better is not worth a word.
  CHECK(contractions(
            of("S: f16[q, x] = sum[d](Q[q, d] * K[x, d]); Y[q, e] = sum[x](S[q, x] * V[x, e])", "output S; output Y\n"))
            .empty());
  CHECK(contractions(of("A: f16[e, d] = sum[x](K[x, d] * V[x, e]); Y[q, e] = sum[d](A[e, d] * Q[q, d])")).empty());
}

TEST_CASE("what exists is read") {
  // dP and P are there anyway; the sum of their product along a row needs neither, once there is O.
  const auto all =
      contractions(of("P[q, x] = exp(sum[d](Q[q, d] * K[x, d])); O[q, e] = sum[x](P[q, x] * V[x, e])\n"
                      "D[q, x] = sum[e](G[q, e] * V[x, e]); Y[q] = sum[x](P[q, x] * D[q, x])",
                      "output O; output Y\n"));
  REQUIRE(all.size() == 1);
  REQUIRE(all[0].forms.size() == 1);
  CHECK(all[0].forms[0].met == Lines{"O"});
  CHECK(statements_of(all[0].forms[0].diagram).back() == "Y: f32 = sum[e](O * G)");
  // Of two results that share a product, the second finds that of the first.
  const auto twice =
      contractions(of("KV[d, e] = sum[x](K[x, d] * V[x, e]); S[q, x] = sum[d](Q[q, d] * K[x, d])\n"
                      "Y[q, e] = sum[x](S[q, x] * V[x, e])",
                      "output KV; output Y\n"));
  REQUIRE(twice.size() == 1);
  CHECK(twice[0].forms[0].made.empty());
  CHECK(statements_of(twice[0].forms[0].diagram) == Lines{"KV: f32 = sum[x](K * V)", "Y: f32 = sum[d](Q * KV)"});
}

TEST_CASE("what sums a wire that is kept is another product") {
  // S sums w along x, which Y keeps: Y is S * S for no w.
  const auto all =
      contractions(of("S[d] = sum[q, x](Q[q, d] * Q[q, d] * w[x]); Y[x, d] = sum[q](Q[q, d] * Q[q, d] * w[x] * S[d])"));
  REQUIRE_FALSE(all.empty());
  for (const auto& one : all)
    for (const auto& form : one.forms) CHECK(form.met.empty());
}

TEST_CASE("a statement of the file that an order needs stays") {
  const auto all = contractions(
      read_text("diagram t\naxis t = 64; axis d = 32; axis e = 4; axis x = 64; axis f = 32\n"
                "input Q: f16[t, d]; input A: f16[d, e]; input B: f16[e, x]; input C: f16[x, f]\n"
                "T[t, e] = sum[d](Q[t, d] * A[d, e]); Y[t, f] = sum[e, x](T[t, e] * B[e, x] * C[x, f])\noutput Y\n"));
  REQUIRE(all.size() == 1);
  CHECK(all[0].forms[0].made == Lines{"BC"});
  CHECK(statements_of(all[0].forms[0].diagram) ==
        Lines{"T: f32 = sum[d](Q * A)", "BC: f32 = sum[x](B * C)", "Y: f32 = sum[e](T * BC)"});
}

TEST_CASE("what is between is not rounded, and whole numbers stay whole") {
  CHECK(best_form("Y: i32[q, e] = sum[x](sum[d](I[q, d] * J[x, d]) * L[x, e])")[0] == "JL: i32 = sum[x](J * L)");
  CHECK(best_form(
            "input a: i32[q, d]; input b: i32[x, d]; Y: i32[q, e] = sum[x](sum[d](a[q, d] * b[x, d]) * L[x, e])")[0] ==
        "bL: f64 = sum[x](b * L)");  // i32 would not hold all of them
  CHECK(best_form("Y: f64[q, e] = sum[x](sum[d](Q[q, d] * K[x, d]) * V[x, e])")[0] == "KV: f64 = sum[x](K * V)");
}

TEST_CASE("sizes decide whether there is another order") {
  const std::string statements = "S[q, x] = sum[d](Q[q, d] * K[x, d]); Y[q, e] = sum[x](S[q, x] * V[x, e])";
  const auto sized = [&](int length, int width) {
    const Overrides sizes{{{"q", length}, {"x", length}, {"d", width}, {"e", width}}, {}};
    return contractions(read_text(head + statements + "\noutput Y\n", sizes)).size();
  };
  CHECK(sized(64, 1024) == 0);
  CHECK(sized(1024, 64) == 1);
}

// The slow twin: every way to join two of what is left, again and again.
namespace {

struct Costs {
  double operations = 0, values = 0;
};
struct Left {
  FactorSet factors = 0;
  double stored = 0;
};
void join_all(const Problem& problem, const std::vector<Left>& parts, Costs so_far, std::vector<Costs>& all) {
  if (parts.size() == 1) return all.push_back({so_far.operations, so_far.values - parts[0].stored});
  for (std::size_t a = 0; a < parts.size(); ++a)
    for (std::size_t b = a + 1; b < parts.size(); ++b) {
      const auto before = left_of(problem, parts[a].factors) | left_of(problem, parts[b].factors);
      const auto after = left_of(problem, parts[a].factors | parts[b].factors);
      auto rest = parts;
      rest[a] = {parts[a].factors | parts[b].factors, positions(problem, after)};
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(b));
      auto costs = so_far;
      costs.operations += (before == after ? 1 : 2) * positions(problem, before);
      costs.values += rest[a].stored;
      if (before == after) costs.values -= std::max(parts[a].stored, parts[b].stored);
      join_all(problem, rest, costs, all);
    }
}
std::vector<Costs> every_order(const Problem& problem) {
  std::vector<Left> parts;
  Costs first;
  for (std::size_t i = 0; i < problem.factors.size(); ++i) {
    const auto left = left_of(problem, FactorSet{1} << i);
    const bool sums = left != problem.factors[i];
    parts.push_back({FactorSet{1} << i, sums ? positions(problem, left) : 0});
    if (sums) first.operations += positions(problem, problem.factors[i]), first.values += parts.back().stored;
  }
  std::vector<Costs> all;
  join_all(problem, parts, first, all);
  return all;
}

Problem random_problem(std::mt19937& random) {
  Problem made;
  const auto wires = 2 + random() % 5, factors = 2 + random() % 4;
  for (std::size_t i = 0; i < wires; ++i) made.sizes.push_back(1 + static_cast<double>(random() % 9));
  for (std::size_t i = 0; i < factors; ++i) made.factors.push_back(1 + random() % ((WireSet{1} << wires) - 1));
  made.kept = random() % (WireSet{1} << wires);
  return made;
}

}  // namespace

TEST_CASE("no order is better than those that are found") {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const auto problem = random_problem(random);
    const auto found = contraction_orders(problem);
    const auto every = every_order(problem);
    const auto least = [&](double Costs::*of) { return (*std::ranges::min_element(every, {}, of)).*of; };
    REQUIRE_FALSE(found.empty());
    CHECK(found.front().operations == least(&Costs::operations));
    for (const auto& order : found) {
      const auto same = [&](const Costs& one) {
        return one.operations == order.operations && one.values == order.values;
      };
      const auto better = [&](const Costs& one) {
        return one.operations <= order.operations && one.values <= order.values && !same(one);
      };
      CHECK(std::ranges::any_of(every, same));
      if (found.size() < 4) CHECK(std::ranges::none_of(every, better));
    }
  }
}

TEST_CASE("long products are contracted step by step") {
  Problem chain;
  for (std::size_t i = 0; i < 20; ++i) chain.factors.push_back(WireSet{3} << i);
  chain.sizes.assign(21, 8), chain.sizes[7] = 2;
  chain.kept = 1 | WireSet{1} << 20;
  const auto found = contraction_orders(chain);
  REQUIRE(found.size() == 1);
  CHECK(found[0].nodes.size() == 39);
  CHECK(found[0].operations <= 2 * 19 * 512);
}

TEST_CASE("a plan takes the order that is faster") {
  const auto hardware = read_machine("h100-sxm5");
  const auto lin = read_text(
      "diagram lin\naxis q = 8192; axis x = 8192; axis d = 128; axis e = 128\n"
      "input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, e]\n"
      "S[q, x] = sum[d](Q[q, d] * K[x, d]); Y: f16[q, e] = sum[x](S[q, x] * V[x, e])\noutput Y\n");
  Goal as_written;
  as_written.orders = false;
  const auto found = search(lin, hardware, {}), plain = search(lin, hardware, as_written);
  REQUIRE(found.orders.size() == 1);
  CHECK(found.orders[0].made == Lines{"KV"});
  CHECK(plain.orders.empty());
  CHECK(*found.cost.time_s * 8 < *plain.cost.time_s);
}

TEST_CASE("a plan says which rounding costs time") {
  const auto hardware = read_machine("h100-sxm5");
  const auto lin = read_text(
      "diagram lin\naxis q = 8192; axis x = 8192; axis d = 128; axis e = 128\n"
      "input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, e]\n"
      "S: f16[q, x] = sum[d](Q[q, d] * K[x, d]); Y: f16[q, e] = sum[x](S[q, x] * V[x, e])\noutput Y\n");
  const auto found = search(lin, hardware, {});
  CHECK(found.orders.empty());
  REQUIRE(found.refused_orders.size() == 1);
  CHECK(found.refused_orders[0].rounded == Lines{"S to f16"});
  CHECK(*found.refused_orders[0].time_s < *found.refused_orders[0].time_before_s);
}

TEST_CASE("every command takes the order of the plan, and a partition may name its arrays or the file's",
          "[cli][long]") {
  const test::Folder folder;
  const auto path =
      folder.write("lin.nap",
                   "diagram lin\naxis q = 8192; axis x = 8192; axis d = 128; axis e = 128\n"
                   "input Q: f16[q, d]; input K: f16[x, d]; input V: f16[x, e]\n"
                   "S[q, x] = sum[d](Q[q, d] * K[x, d])\nY: f16[q, e] = sum[x](S[q, x] * V[x, e])\noutput Y\n");
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, path);
    words.insert(words.end(), {"--target", "h100-sxm5"});
    return test::run_cli(words);
  };
  const auto page = run({"analyze"});
  CHECK(page.out.find("ORDER     KV = sum[x](K * V), Y = sum[d](Q * KV): 537 MFLOP instead of") != std::string::npos);
  CHECK(page.out.find("S: f16") == std::string::npos);  // nothing tells of a statement that is not planned
  CHECK(run({"pseudocode"}).out.find("Y_sum = Y_sum + sum[d](Q * KV)") != std::string::npos);
  CHECK(run({"verify"}).code == exit_done);
  CHECK(run({"analyze", "--partition", "KV: group d 16, e 16, stream x 64 at smem | Y: group q 64 at smem"}).code ==
        exit_done);
  const auto as_written = run({"analyze", "--partition", "S, Y: group q 64, e 64, stream x 64, d 64 at smem"});
  CHECK(as_written.code == exit_done);
  CHECK(as_written.out.find("KV") == std::string::npos);
  CHECK(run({"analyze", "--partition", "KVW: group d 16 at smem | Y: group q 64 at smem"}).code != exit_done);
  CHECK(test::run_cli({"derive", path}).out.find("S8: Q * K * V can be multiplied and summed in another order") !=
        std::string::npos);
}
