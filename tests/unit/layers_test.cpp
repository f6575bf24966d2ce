// Long diagrams: runs of statements, and layers that repeat.
#include <fmt/format.h>

#include <map>
#include <numeric>
#include <random>

#include "cost/regions/by_sizes.hpp"
#include "napkin/search.hpp"
#include "search/plans/likeness.hpp"
#include "support/catch.hpp"
#include "support/machine.hpp"

using namespace napkin;

namespace {

// A layer of seven statements, so many times over; `a` is the wider side.
std::string layers(int count) {
  std::string text = "diagram layers; axis t = 512; axis a = 256; axis c = 64\ninput X0: f16[t, c]\n";
  text += "input W: f16[c, a]; input V: f16[a, c]\n";
  for (int i = 0; i < count; ++i)
    text += fmt::format(
        "N{0}: f16[t, c] = rmsnorm[c](X{0}[t, c]); G{0}: f16[t, a] = sum[c](N{0}[t, c] * W[c, a])\n"
        "U{0}: f16[t, a] = max(G{0}[t, a], 0); H{0}: f16[t, a] = U{0}[t, a] * U{0}[t, a]\n"
        "Y{0}: f16[t, c] = sum[a](H{0}[t, a] * V[a, c]); Z{0}: f16[t, c] = Y{0}[t, c] / 2\n"
        "X{1}: f16[t, c] = X{0}[t, c] + Z{0}[t, c]\n",
        i, i + 1);
  return text + fmt::format("output X{}\n", count);
}

std::vector<std::size_t> counts(const std::vector<Statements>& runs) {
  std::vector<std::size_t> all;
  for (const auto& run : runs) all.push_back(run.count());
  return all;
}

}  // namespace

TEST_CASE("a long diagram is cut into runs where least crosses, and layers stay whole") {
  CHECK(counts(runs_of(read_text(layers(1)), 16)) == std::vector<std::size_t>{7});
  CHECK(counts(runs_of(read_text(layers(3)), 16)) == std::vector<std::size_t>{7, 14});
  CHECK(counts(runs_of(read_text(layers(4)), 7)) == std::vector<std::size_t>{7, 7, 7, 7});
}

TEST_CASE("kernels that compute the same on other arrays are alike, and others are not") {
  const auto diagram = read_text(layers(2));
  const auto cut = [](std::size_t first, std::size_t count, bool all = false) {
    Cut made;
    for (auto i = first; i < first + count; ++i) made.computed.set(i), made.saved[i] = all || i + 1 == first + count;
    return made;
  };
  const auto text = [&](const Cut& each) { return likeness(diagram, each, false).text; };
  CHECK(text(cut(0, 7)) == text(cut(7, 7)));
  CHECK(text(cut(1, 2)) == text(cut(8, 2)));
  CHECK(text(cut(1, 2)) != text(cut(8, 2, true)));  // more is saved
  CHECK(text(cut(1, 2)) != text(cut(2, 2)));
  CHECK(likeness(diagram, cut(1, 2), false).wires.size() == 3);
  CHECK(text(cut(1, 2)) != likeness(diagram, cut(1, 2), true).text);
}

TEST_CASE("a search answers for a kernel that is allowed no more than it was") {
  const auto diagram = read_text(layers(2));
  Cut one, other;
  one.computed.set(1), one.saved.set(1), other.computed.set(8), other.saved.set(8);
  const auto found = likeness(diagram, one, false), asked = likeness(diagram, other, false);
  Ranking ranking{Incumbents(1, 0), {}};
  ranking.incumbents.offer({Score{}, Partition{{{SplitKind::group, found.wires.front(), 16, 1}}}});
  Searched searched;
  CHECK_FALSE(searched.find(asked, 1, Price::never()));
  ranking.statistics.finished = false;
  searched.keep(found, ranking, 100, {1, 1});
  CHECK_FALSE(searched.find(asked, 200, {1, 1}));
  CHECK_FALSE(searched.find(asked, 100, {2, 1}));
  const auto answer = searched.find(asked, 100, {1, 1});
  REQUIRE(answer);
  CHECK(answer->incumbents.best().front().partition.splits.front().wire == asked.wires.front());
  ranking.statistics.finished = true;
  searched.keep(found, ranking, 100, {1, 1});
  CHECK(searched.find(asked, 200, Price::never()));
}

TEST_CASE("of two searches of a kernel the better partition stays, and those of other plans count") {
  const auto diagram = read_text(layers(2));
  Cut cut;
  cut.computed.set(1), cut.saved.set(1);
  const auto kernel = likeness(diagram, cut, false);
  const auto ranking = [&](double seconds, std::int64_t evaluated) {
    Ranking made{Incumbents(1, 0), {.evaluated = evaluated, .finished = false}};
    made.incumbents.offer({Score::at_most(seconds, 1), {}});
    return made;
  };
  Searched searched;
  searched.keep(kernel, ranking(1, 10), 100, Price::never());
  searched.keep(kernel, ranking(2, 20), 200, Price::never());
  const auto same_plan = searched.find(kernel, 200, Price::never());
  REQUIRE(same_plan);
  CHECK(same_plan->incumbents.best().front().score.parts[0] == 1);
  CHECK(same_plan->statistics.evaluated == 0);
  searched.begin_plan();
  CHECK(searched.find(kernel, 200, Price::never())->statistics.evaluated == 20);
}

TEST_CASE("values by sizes are those of a map") {
  std::mt19937 random(5);
  for (const std::size_t length : {0, 1, 3}) {
    BySizes<int> values;
    std::map<std::vector<std::int64_t>, int> expected;
    for (int i = 0; i < 3000; ++i) {
      std::vector<std::int64_t> sizes;
      while (sizes.size() < length) sizes.push_back(static_cast<std::int64_t>(random() % 12));
      const auto [value, fresh] = values.at(sizes);
      REQUIRE(fresh == expected.try_emplace(sizes, i).second);
      if (fresh) *value = i;
      REQUIRE(*value == expected[sizes]);
    }
  }
}

TEST_CASE("a plan of layers is never worse than that of one, so many times over") {
  const auto hardware = read_machine("h100-sxm5");
  const auto one = search(read_text(layers(1)), hardware, {}), four = search(read_text(layers(4)), hardware, {});
  REQUIRE(one.cost.time_s);
  REQUIRE(four.cost.time_s);
  CHECK(*four.cost.time_s <= 4 * *one.cost.time_s * (1 + 1e-9));
  CHECK(four.plan.kernels.size() == four.cost.kernels.size());
}

TEST_CASE("patience buys partitions, and a plan that is no worse", "[long]") {
  const auto diagram = read_example("convolution.nap");
  const auto hardware = read_machine("h100-sxm5");
  const auto plan = [&](double times) { return search(diagram, hardware, {.divide = false, .patience = times}); };
  const auto hasty = plan(0.002), patient = plan(1);
  CHECK(hasty.evaluated < patient.evaluated);
  REQUIRE(hasty.cost.time_s);
  CHECK(*patient.cost.time_s <= *hasty.cost.time_s);
}
