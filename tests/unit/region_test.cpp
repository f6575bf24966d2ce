// Regions: what masks leave is counted as if every piece were asked.
#include "cost/regions/region.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "cost/regions/cutting.hpp"
#include "cost/regions/rows.hpp"
#include "support/catch.hpp"

using namespace napkin;

namespace {

Interval random_interval(std::mt19937& random) {
  const auto begin = static_cast<std::int64_t>(random() % 12);
  return {begin, begin + 1 + static_cast<std::int64_t>(random() % 5)};
}

template <class Visit>
void each_pair(const Intervals& box, Visit visit) {
  for (auto a = box[0].begin; a < box[0].end; ++a)
    for (auto b = box[1].begin; b < box[1].end; ++b) visit(a, b);
}

Condition random_condition(std::mt19937& random) {
  const auto small = [&] { return static_cast<double>(random() % 3) - 1; };
  Condition made;
  for (std::uint32_t w = 0; w < 2; ++w)
    if (const double factor = small(); factor != 0) made.terms.push_back({{w}, factor});
  made.offset = made.constant = static_cast<double>(random() % 9) - 4;
  const auto signs = 1 + random() % 6;  // not `!=`
  made.below = signs == 1 || signs == 2, made.above = signs == 3 || signs == 4, made.at = signs % 2 == 0 || signs == 5;
  return made;
}

bool holds(const Condition& c, std::int64_t a, std::int64_t b) {
  double value = c.offset;
  for (const auto& [wire, factor] : c.terms) value += factor * static_cast<double>(wire.index == 0 ? a : b);
  return value < 0 ? c.below : value > 0 ? c.above : c.at;
}

}  // namespace

TEST_CASE("a condition on a piece is what it is on the positions of the piece") {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto condition = random_condition(random);
    const Intervals box = {random_interval(random), random_interval(random)};
    bool some = false, all = true;
    each_pair(box, [&](auto a, auto b) { some |= holds(condition, a, b), all &= holds(condition, a, b); });
    REQUIRE(holds_somewhere(condition, box) == some);
    REQUIRE(holds_everywhere(condition, box) == all);
  }
}

namespace {

// A region of two wires, the sizes that these are cut into, and what a piece counts with.
struct Case {
  Region region;
  std::vector<Cutting> cuttings;
  std::vector<bool> shaped = {false, false};
  bool even = false;
  std::int64_t reach(const Intervals& at) const {
    return 1 + (shaped[0] ? 3 * at[0].length() + (even ? 0 : at[0].begin) : 0) + (shaped[1] ? 2 * at[1].length() : 0);
  }
  Footprints footprints() const {
    return {[this](const Intervals& at) { return reach(at); }, shaped, even};
  }
  std::vector<Footprints> factors() const {
    return region.footprints.empty() ? std::vector<Footprints>{} : std::vector{footprints()};
  }
  std::int64_t counted() const { return sum(region, cuttings, 2, factors()); }
};

// Every leaf piece, each with all that is around it, the whole wire first.
using Nested = std::vector<Intervals>;
void cut(Intervals& around, const std::vector<std::int64_t>& sizes, Nested& all) {
  if (around.size() > sizes.size()) return all.push_back(around);
  const auto size = std::max<std::int64_t>(1, sizes[around.size() - 1]);
  const auto whole = around.back();
  for (auto at = whole.begin; at < whole.end; at += size) {
    around.push_back({at, std::min(whole.end, at + size)});
    cut(around, sizes, all);
    around.pop_back();
  }
}
Nested nested(const Cutting& cutting) {
  Nested all;
  Intervals around = {{0, cutting.extent}};
  cut(around, cutting.sizes, all);
  return all;
}

// The slow twin asks every piece.
std::int64_t one_by_one(const Case& given) {
  const auto& region = given.region;
  std::int64_t expected = 0;
  for (const auto& first : nested(given.cuttings[0]))
    for (const auto& second : nested(given.cuttings[1])) {
      const auto box = [&](const Region::Test& test) {
        return Intervals{first[test.depths[0]], second[test.depths[1]]};
      };
      bool run = true;
      for (const auto& test : region.needs) run &= all_hold_somewhere(test.conditions, box(test));
      if (!run) continue;
      if (region.part != Region::Part::run &&
          (region.part == Region::Part::open) != all_hold_everywhere(region.open.conditions, box(region.open)))
        continue;
      const Intervals at = {first.back(), second.back()};
      expected += (region.measured[0] ? at[0].length() : 1) * (region.measured[1] ? at[1].length() : 1) *
                  (region.footprints.empty() ? 1 : given.reach(at));
    }
  return expected;
}

Case random_case(std::mt19937& random) {
  Case made;
  made.region.wires = {{0}, {1}};
  made.region.measured = {random() % 2 == 0, random() % 2 == 0};
  made.region.part = static_cast<Region::Part>(random() % 3);
  return made;
}

// Of a condition of a given direction: c * q + d * x compared with some offset, either way round.
Condition parallel_condition(std::mt19937& random, std::int64_t c, std::int64_t d, std::int64_t extent) {
  auto made = random_condition(random);
  const double sign = random() % 2 == 0 ? 1 : -1;
  made.terms = {{{0}, sign * static_cast<double>(c)}, {{1}, sign * static_cast<double>(d)}};
  const auto far = 2 * static_cast<std::uint64_t>((std::abs(c) + std::abs(d)) * extent) + 1;
  made.offset = made.constant = static_cast<double>(random() % far) - static_cast<double>(far / 2);
  return made;
}

bool divide_evenly(const Cutting& cutting) {
  const auto uneven = [](std::int64_t around, std::int64_t size) { return size < 1 || around % size != 0; };
  return std::ranges::adjacent_find(cutting.sizes, uneven) == cutting.sizes.end();
}

}  // namespace

TEST_CASE("pieces and rows of nested sizes are those that are cut one by one") {
  std::mt19937 random(4);
  for (int i = 0; i < 3000; ++i) {
    Cutting cutting{1 + static_cast<std::int64_t>(random() % 60), {}};
    while (random() % 4 != 0) cutting.sizes.push_back(static_cast<std::int64_t>(random() % 30));
    const auto expected = nested(cutting);
    const Pieces pieces(cutting);
    REQUIRE(pieces.count() == expected.size());
    for (std::size_t splits = 0; splits <= cutting.sizes.size(); ++splits) {
      std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> leaves, found;
      for (std::size_t piece = 0; piece < expected.size(); ++piece) {
        const auto at = pieces.at(piece, splits), right = expected[piece][splits];
        REQUIRE((at.begin == right.begin && at.end == right.end));
        ++leaves[{at.begin, at.end}];
      }
      const auto all = rows(cutting, splits);
      if (divide_evenly(cutting)) REQUIRE(all.size() <= splits + 1);
      for (const auto& row : all)
        for (std::int64_t k = 0; k < row.count; ++k)
          found[{row.begin + k * row.stride, row.begin + k * row.stride + row.length}] += row.leaves;
      REQUIRE(found == leaves);
    }
  }
}

TEST_CASE("a region's sum is the sum over its pieces one by one") {
  std::mt19937 random(2);
  for (int i = 0; i < 2000; ++i) {
    auto made = random_case(random);
    const auto size = [&] { return 1 + static_cast<std::int64_t>(random() % 6); };
    const auto depth = [&] { return static_cast<std::size_t>(random() % 3); };
    made.cuttings = {{17, {size() * 2, size()}}, {13, {size() * 2, size()}}};
    made.region.needs = {{{random_condition(random)}, {depth(), depth()}}, {{random_condition(random)}, {2, 2}}};
    made.region.open = {{random_condition(random)}, {2, 2}};
    made.shaped = {random() % 2 == 0, random() % 2 == 0};
    if (random() % 2 == 0) made.region.footprints = {0};
    const auto expected = one_by_one(made);
    REQUIRE(made.counted() == expected);
  }
}

TEST_CASE("where conditions compare two wires in one direction, pairs are counted at once") {
  std::mt19937 random(3);
  int by_rows = 0, with_footprints = 0;
  for (int i = 0; i < 4000; ++i) {
    auto made = random_case(random);
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    const std::int64_t c = 1 + below(3), d = (1 + below(3)) * (random() % 4 == 0 ? 1 : -1);
    for (int w = 0; w < 2; ++w) {
      const auto extent = 1 + below(90);
      made.cuttings.push_back({extent, {}});
      for (auto size = 1 + below(40); made.cuttings.back().sizes.size() < random() % 4; size = 1 + below(size + 2))
        made.cuttings.back().sizes.push_back(size);
    }
    const auto test = [&] {
      Region::Test all;
      for (auto n = 1 + below(2); n > 0; --n) all.conditions.push_back(parallel_condition(random, c, d, 60));
      for (const auto& cutting : made.cuttings) all.depths.push_back(random() % (cutting.sizes.size() + 1));
      return all;
    };
    for (auto n = below(4); n > 0; --n) made.region.needs.push_back(test());
    made.region.open = test();
    made.even = random() % 2 == 0;
    made.shaped = {random() % 2 == 0, random() % 2 == 0};
    if (made.even) made.region.footprints = {0};
    const auto expected = one_by_one(made);
    REQUIRE(made.counted() == expected);
    const auto found = sum_by_rows(made.region, made.cuttings, 2, made.footprints());
    if (!found) continue;
    REQUIRE(*found == expected);
    ++by_rows, with_footprints += made.even;
  }
  CHECK(by_rows > 100);
  CHECK(with_footprints > 50);
}

// t = part * size + x, where an axis is divided.
TEST_CASE("parts of an axis are counted with what they begin at") {
  std::mt19937 random(5);
  for (int i = 0; i < 2000; ++i) {
    const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
    const auto size = 1 + below(12), parts = 1 + below(4);
    Case divided, whole;
    auto& region = divided.region;
    region = random_case(random).region;
    const bool counted = region.measured[1];
    region.wires = {{0}, {1}, {2}};
    region.measured = {region.measured[0], false, counted};
    Condition causal;
    causal.terms = {{{0}, -1}, {{1}, static_cast<double>(size)}, {{2}, 1}};
    causal.offset = causal.constant = static_cast<double>(below(9)) - 4;
    causal.below = causal.at = true;
    region.needs = {{{causal}, {1, 1, 1}}};
    region.open = {{causal}, {1, 1, 1}};
    divided.cuttings = {{1 + below(40), {1 + below(9)}}, {parts, {1}}, {size, {1 + below(size)}}};
    std::int64_t expected = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      auto& [given, cuttings, shaped, even] = whole;
      given = region;
      given.wires = {{0}, {1}};
      given.measured = {region.measured[0], counted};
      cuttings = {divided.cuttings[0], divided.cuttings[2]};
      auto condition = causal;
      condition.terms = {{{0}, -1}, {{1}, 1}};
      condition.offset += static_cast<double>(part * size);
      given.needs = {{{condition}, {1, 1}}};
      given.open = {{condition}, {1, 1}};
      expected += one_by_one(whole);
    }
    REQUIRE(sum(region, divided.cuttings, 3, {}) == expected);
    REQUIRE(sum_by_rows(region, divided.cuttings, 3, {}) == expected);
  }
}

namespace {

// x0 and x1 in one condition, x2 and x3 in another, a footprint of x1 and one of x2.
Region two_pairs(std::mt19937& random) {
  Region made;
  made.wires = {{0}, {1}, {2}, {3}};
  made.measured = {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0, random() % 2 == 0};
  made.part = static_cast<Region::Part>(random() % 3);
  auto first = random_condition(random), second = random_condition(random);
  for (auto& [wire, factor] : second.terms) wire.index += 2;
  made.needs = {{{first, second}, {1, 1, 1, 1}}};
  made.open = {{first, second}, {1, 1, 1, 1}};
  made.footprints = {0, 1};
  return made;
}

}  // namespace

TEST_CASE("parts of a region that nothing ties together are summed apart, to the same sum") {
  std::mt19937 random(6);
  for (int i = 0; i < 300; ++i) {
    const auto region = two_pairs(random);
    std::vector<Cutting> cuttings;
    for (int w = 0; w < 4; ++w)
      cuttings.push_back({2 + static_cast<std::int64_t>(random() % 6), {1 + static_cast<std::int64_t>(random() % 4)}});
    const std::vector<Footprints> factors = {
        {[](const Intervals& at) { return 1 + at[1].begin; }, {false, true, false, false}},
        {[](const Intervals& at) { return 2 * at[2].length(); }, {false, false, true, false}, true}};
    const auto run = [](const Intervals& at, const Region& of) {
      return all_hold_somewhere(of.needs[0].conditions, at);
    };
    std::int64_t expected = 0;
    Nested pieces[4];
    for (std::size_t w = 0; w < 4; ++w) pieces[w] = nested(cuttings[w]);
    for (const auto& a : pieces[0])
      for (const auto& b : pieces[1])
        for (const auto& c : pieces[2])
          for (const auto& d : pieces[3]) {
            const Intervals at = {a.back(), b.back(), c.back(), d.back()};
            const bool open = all_hold_everywhere(region.open.conditions, at);
            if (!run(at, region) || (region.part != Region::Part::run && open != (region.part == Region::Part::open)))
              continue;
            std::int64_t one = factors[0].of(at) * factors[1].of(at);
            for (std::size_t w = 0; w < 4; ++w) one *= region.measured[w] ? at[w].length() : 1;
            expected += one;
          }
    REQUIRE(sum(region, cuttings, 4, factors) == expected);
  }
}

TEST_CASE("a triangle of a trillion rows is counted at once") {
  const std::int64_t extent = std::int64_t{1} << 40, q = 128, x = 48;
  Case made;
  made.region.wires = {{0}, {1}};
  made.region.measured = {false, false};
  Condition causal;  // q - x >= 0
  causal.terms = {{{0}, 1}, {{1}, -1}};
  causal.at = causal.above = true;
  made.region.needs = {{{causal}, {1, 1}}};
  made.cuttings = {{extent, {q}}, {3 << 20, {x}}};
  // Of every block of queries, the pieces that begin at or before its last.
  std::int64_t expected = 0;
  const auto blocks = extent / q, pieces = (std::int64_t{3} << 20) / x;
  for (std::int64_t block = 0; block < (std::int64_t{3} << 20) / q; ++block)
    expected += std::min(pieces, (block * q + q - 1) / x + 1);
  expected += (blocks - (std::int64_t{3} << 20) / q) * pieces;
  CHECK(made.counted() == expected);
}

TEST_CASE("pairs up to a bound are counted as one by one") {
  for (std::int64_t a = 0; a < 6; ++a)
    for (std::int64_t b = 0; b < 6; ++b)
      for (std::int64_t n = 1; n < 6; ++n)
        for (std::int64_t m = 1; m < 6; ++m)
          for (std::int64_t most = -1; most < 52; ++most) {
            std::int64_t expected = 0;
            for (std::int64_t i = 0; i < n; ++i)
              for (std::int64_t j = 0; j < m; ++j) expected += a * i + b * j <= most;
            if (pairs_up_to(most, a, n, b, m) != expected) FAIL(most << ' ' << a << ' ' << n << ' ' << b << ' ' << m);
          }
}
