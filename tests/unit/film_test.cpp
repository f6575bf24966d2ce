// A derivation as a film: its steps, what each says, and how a plan ends it.
#include <algorithm>

#include "napkin/pictures.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/machine.hpp"
#include "support/read.hpp"
#include "support/run_cli.hpp"
#include "support/xml.hpp"

using namespace napkin;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a derivation is drawn step by step, each with its rule", "[scene]") {
  const auto diagram = read_example("attention.nap");
  const std::vector<StatementId> all = {{0}, {1}, {2}};
  const auto derivation = derive(diagram, all);
  const auto x = find_wire(diagram, "x");
  const auto& stream = std::get<Streamable>(derivation.find(*x)->stream);
  const auto scenes = lay_out_derivation(diagram, derivation, x);
  REQUIRE(scenes.size() == 5 + derivation.trace.size() + stream.trace.size());
  CHECK(has(to_text(scenes[0]), "two lines that a cup joins are multiplied and summed"));
  CHECK(!has(to_text(scenes[0]), "hexagon"));
  CHECK(has(scenes[1].title, "2. fused"));
  CHECK(has(to_text(scenes[1]), "fused: S, P stay inside: 33.6 M values (101 MB) are never written"));
  CHECK(has(scenes[2].title, "3. written out"));
  for (const auto* step : {"S_sum = sum[d](Q * K)", "S = S_sum / sqrt(size(d))", "m = max[x](S)", "p = exp(S - m)",
                           "l = sum[x](p)", "P = p / l"})
    CHECK(has(to_text(scenes[2]), step));
  CHECK(!has(to_text(scenes[2]), "O = O"));
  const auto aim = to_text(scenes[3 + derivation.trace.size()]);
  CHECK(has(aim, "so m, l, O are carried from tile to tile"));
  for (std::size_t i = 0; i < stream.trace.size(); ++i) {
    const auto& scene = scenes[4 + derivation.trace.size() + i];
    CHECK(has(to_text(scene), "allowed by rule " + std::string(code(stream.trace[i].rule)) + ":"));
    CHECK(scene.description == stream.trace[i].why);
  }
  CHECK(has(to_text(scenes[4 + derivation.trace.size()]), "before:  l = sum[x](p)"));
  CHECK(has(to_text(scenes[scenes.size() - 3]), "+ sum[x](f16(exp(S - n)) * V), with r = exp(m - n)"));
  CHECK(has(to_text(scenes.back()), "carried: m, l, O, 532 k values, however long x is; one pass over x instead of 3"));
  CHECK(has(aim, "held at a time: 4.10 k values of S per position of x, not 16.8 M"));
  CHECK(has(to_text(scenes.back()), "r * O + ·"));
  CHECK(lay_out_derivation(diagram, derivation, std::nullopt).size() == 3 + derivation.trace.size());
}

TEST_CASE("the film says what each step did and what it is good for", "[scene]") {
  const auto diagram = read_example("attention.nap");
  const std::vector<StatementId> all = {{0}, {1}, {2}};
  const std::pair<const char*, const char*> expected[] = {
      {"l written out", "so every term needs m, known only after all of x"},
      {"m leaves the sum of l", "so a term of the sum needs only its own tile of S"},
      {"l relative to m", "x = a * (x / a)"},
      {"O written out", "so every term needs m and l, known only after all of x"},
      {"m and l leave the sum of O", "so a term of the sum needs only its own tile of V and S"},
      {"O relative to m", "it cannot overflow"},
      {"a tile joins n", "so only 4.10 k values of n are kept"},
      {"a tile joins l", "so 4.10 k products per tile replace reading every earlier tile again"},
      {"a tile joins O", "so 524 k products per tile"},
      {"O after the last tile", "so it is done once for 524 k values, not for every tile"}};
  const auto scenes = lay_out_derivation(diagram, derive(diagram, all), find_wire(diagram, "x"));
  REQUIRE(scenes.size() == 5 + std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    CAPTURE(i);
    CHECK(has(scenes[4 + i].title, expected[i].first));
    CHECK(has(to_text(scenes[4 + i]), expected[i].second));
    CHECK(!has(to_text(scenes[4 + i]), "with m = n"));
  }
}

TEST_CASE("the film of open sizes names no numbers, and says what streams that carry nothing do", "[scene]") {
  const auto open = read_text(
      "diagram open\n\naxis a\naxis c\n\ninput X: f16[a, c]\n\nE[a, c] = exp(X[a, c])\nY[a] = sum[c](E[a, c])\n"
      "output Y\n");
  const std::vector<StatementId> all = {{0}, {1}};
  const auto of = [&](const char* wire) {
    return to_text(lay_out_derivation(open, derive(open, all), find_wire(open, wire)).back());
  };
  CHECK(has(of("c"), "carried: Y\n"));
  CHECK(has(of("a"), "nothing is carried"));
  CHECK(!has(of("a"), "comes in on the left"));
}

TEST_CASE("steps that differ in names alone are drawn once", "[scene]") {
  const auto diagram = read_text(
      "diagram two\n\naxis t = 64\naxis c = 64\naxis d = 64\n\ninput X: f16[t, c]\ninput WQ: f16[c, d]\n"
      "input WK: f16[c, d]\n\nN[t, c] = rmsnorm[c](X[t, c])\nQ[t, d] = sum[c](N[t, c] * WQ[c, d])\n"
      "K[t, d] = sum[c](N[t, c] * WK[c, d])\nY[t, d] = Q[t, d] * K[t, d]\noutput Y\n");
  const std::vector<StatementId> all = {{0}, {1}, {2}, {3}};
  std::size_t of_q = 0, of_k = 0, same = 0;
  for (const auto& scene : lay_out_derivation(diagram, derive(diagram, all), find_wire(diagram, "c"))) {
    of_q += has(scene.title, "sum of Q") || has(scene.title, "joins Q") || has(scene.title, "Q after") ||
            has(scene.title, "Q written");
    of_k += has(scene.title, "sum of K") || has(scene.title, "joins K") || has(scene.title, "K after") ||
            has(scene.title, "K written");
    same += has(to_text(scene), "the same holds for K");
    CHECK(!has(to_text(scene), "with l ="));
  }
  CHECK(of_q > 1);
  CHECK(of_k == 0);
  CHECK(same == of_q);
}

TEST_CASE("steps of a later kernel that are told already are named by their pictures", "[scene]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto diagram = read_example("chained_matmul.nap");
  Plan plan;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i) {
    const std::vector<StatementId> one = {{i}};
    auto derivation = std::make_shared<const Derivation>(derive(diagram, one));
    const auto over = derivation->columns[0].over.at(0);
    plan.kernels.push_back(make_kernel(std::move(derivation), {{{SplitKind::stream, over, 64, 1}}}));
  }
  REQUIRE(plan.kernels.size() == 2);
  const auto cost = estimate(plan, hardware, Model::machine);
  std::size_t joins = 0, before = 0;  // and nothing is fused
  for (const auto& scene : lay_out_derivation(diagram, plan, cost, hardware, Model::machine))
    joins += has(scene.title, "a tile joins"), before += has(to_text(scene), "this follows as in step 2");
  CHECK(joins == 1);
  CHECK(before == 1);
}

TEST_CASE("the film of a plan ends with its memories and with what it costs", "[scene]") {
  const auto hardware = read_machine("h100-sxm5");
  const auto diagram = read_example("attention.nap");
  const std::vector<StatementId> all = {{0}, {1}, {2}};
  const auto x = *find_wire(diagram, "x");
  Plan plan;
  plan.kernels.push_back(
      make_kernel(std::make_shared<const Derivation>(derive(diagram, all)),
                  {{{SplitKind::group, *find_wire(diagram, "q"), 128, 1}, {SplitKind::stream, x, 64, 1}}}));
  const auto cost = estimate(plan, hardware, Model::machine);
  const auto scenes = lay_out_derivation(diagram, plan, cost, hardware, Model::machine);
  const auto bare = lay_out_derivation(diagram, *plan.kernels[0].derivation, x);
  REQUIRE(scenes.size() == bare.size() + 2);
  for (std::size_t i = 0; i + 1 < bare.size(); ++i) CHECK(to_text(scenes[i]) == to_text(bare[i]));
  CHECK(scenes[bare.size() - 1].title == bare.back().title);
  auto whole = plan.kernels[0].partition;
  whole.splits.pop_back();
  const auto held_whole = estimate(make_kernel(plan.kernels[0].derivation, whole), hardware, Model::machine).levels[0];
  CHECK(static_cast<double>(held_whole.memory_bytes) > *held_whole.capacity);
  CHECK(has(to_text(scenes[bare.size() - 1]), "without the stream a group would hold 1.03 MiB in smem"));
  const auto coloured = to_text(scenes[bare.size()]), planned = to_text(scenes.back());
  CHECK(has(planned, "g_q 128: groups of 128 positions of q, in parallel"));
  CHECK(has(planned, "s_x 64: tiles of 64 positions of x, one after another"));
  CHECK(has(coloured, " at smem"));
  CHECK(!has(coloured, "s_x 64"));
  CHECK(!has(coloured, "figure"));
  CHECK(has(planned, "s_x 64"));
  CHECK(has(planned, "figure"));
}

TEST_CASE("an array of a single value is explained", "[scene]") {
  const auto one = read_text("diagram s\naxis a = 64\ninput X: f32[a]\ns[] = sum[a](X[a])\noutput s\n");
  const std::vector<StatementId> all = {{0}};
  const auto film = lay_out_derivation(one, derive(one, all), find_wire(one, "a"));
  CHECK(has(to_text(film.front()), "a line called 1 is an array of a single value"));
  CHECK(has(to_text(film.back()), "carried: s, 1 value, however long a is"));
  const auto attention = read_example("attention.nap");
  CHECK(!has(to_text(lay_out_derivation(attention, derive(attention, all), std::nullopt).front()), "called 1"));
}

TEST_CASE("a film begins with what was written, and says what a machine made of it", "[cli][scene][long]") {
  const auto film = test::run_cli({"draw", test::example("decode"), "--derivation", "--target", "h100-sxm5"});
  REQUIRE(film.code == exit_done);
  const auto first = film.out.find("1. decode as it is written"), second = film.out.find("2. for h100-sxm5");
  REQUIRE(first != film.out.npos);
  REQUIRE(second != film.out.npos);
  CHECK(has(film.out.substr(first, second - first), "softmax"));
  CHECK(!has(film.out.substr(first, second - first), "x_part"));
  CHECK(has(film.out.substr(second), "parts run in parallel and a second kernel merges them"));
  const auto third = film.out.find("\n   3. ");
  REQUIRE(third != film.out.npos);
  CHECK(has(film.out.substr(second, third - second), "x = 2048*x_part + x_in_part"));
  const auto whole = test::run_cli({"draw", test::example("multi_head"), "--derivation", "--target", "h100-sxm5"});
  CHECK(!has(whole.out, "for h100-sxm5"));
}
