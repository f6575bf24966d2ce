// The algebra of layouts against counting, and tiles in shared memory against banks.
#include "napkin/layout.hpp"

#include <set>

#include "support/catch.hpp"

using namespace napkin;

namespace {

std::vector<Layout> some_layouts() {
  return {{{{8, 1}}},
          {{{8, 1}, {4, 8}}},
          {{{4, 8}, {8, 1}}},
          {{{4, 2}, {2, 1}, {3, 8}}},
          {{{16, 1}, {16, 16}}},
          {{{4, 32}, {8, 1}, {2, 16}}},
          {{{2, 4}, {2, 2}, {2, 1}}},
          {{{6, 1}, {1, 99}, {2, 6}}}};
}

}  // namespace

TEST_CASE("a coalesced layout is the same function") {
  for (const auto& layout : some_layouts()) {
    const auto shorter = coalesced(layout);
    CAPTURE(to_text(layout), to_text(shorter));
    CHECK(shorter.size() == layout.size());
    CHECK(shorter.modes.size() <= layout.modes.size());
    for (std::int64_t i = 0; i < layout.size(); ++i) CHECK(shorter(i) == layout(i));
  }
  CHECK(to_text(coalesced({{{6, 1}, {1, 99}, {2, 6}}})) == "(12):(1)");
}

TEST_CASE("a layout is written as the expression of its places") {
  CHECK(to_expression({{{8, 1}, {2, 8}, {2, 0}}}, "lane") == "lane % 16");
  CHECK(to_expression({{{8, 0}, {2, 0}, {2, 8}}}, "lane") == "lane / 16 * 8");
  CHECK(to_expression({{{8, 1}, {2, 0}, {2, 8}}}, "lane") == "lane % 8 + lane / 16 * 8");
  CHECK(to_expression({{{8, 0}, {2, 8}, {2, 0}}}, "lane") == "lane / 8 % 2 * 8");
  CHECK(to_expression({{{8, 1}}}, "group") == "group");
  CHECK(to_expression({{{8, 0}}}, "group") == "0");
}

TEST_CASE("a composed layout is one function after the other, and is refused only where there is none") {
  int composed = 0;
  for (const auto& outer : some_layouts())
    for (const auto& inner : some_layouts()) {
      if (inner.reach() > outer.size()) continue;
      const auto both = compose(outer, inner);
      if (!both) continue;
      ++composed;
      CAPTURE(to_text(outer), to_text(inner), to_text(*both));
      for (std::int64_t i = 0; i < inner.size(); ++i) CHECK((*both)(i) == outer(inner(i)));
    }
  CHECK(composed >= 20);
  CHECK(!compose({{{4, 1}, {4, 100}}}, {{{3, 3}}}));  // 0, 3, 102: no one stride
}

TEST_CASE("a layout and its complement reach every place once") {
  for (const Layout& layout :
       {Layout{{{4, 1}}}, Layout{{{4, 2}}}, Layout{{{2, 1}, {2, 8}}}, Layout{{{4, 16}, {2, 1}}}}) {
    const auto rest = complement(layout, 128);
    REQUIRE(rest);
    std::set<std::int64_t> places;
    for (std::int64_t i = 0; i < layout.size(); ++i)
      for (std::int64_t j = 0; j < rest->size(); ++j) places.insert(layout(i) + (*rest)(j));
    CAPTURE(to_text(layout), to_text(*rest));
    CHECK(places.size() == 128);
    CHECK(*places.rbegin() == 127);
  }
  CHECK(!complement({{{4, 1}, {4, 2}}}, 128));  // the two meet
  CHECK(!complement({{{3, 1}}}, 128));
}

TEST_CASE("a divided layout visits tile after tile") {
  const Layout rows{{{8, 1}, {6, 8}}};
  const auto tiles = divide(rows, {{{4, 1}, {2, 8}}});  // 4 x 2 of 8 x 6
  REQUIRE(tiles);
  std::set<std::int64_t> first, all;
  for (std::int64_t i = 0; i < tiles->size(); ++i) {
    all.insert((*tiles)(i));
    if (i < 8) first.insert((*tiles)(i));
  }
  CHECK(first == std::set<std::int64_t>{0, 1, 2, 3, 8, 9, 10, 11});
  CHECK(all.size() == 48);
}

TEST_CASE("eight rows of a shared tile lie in different banks, whatever its width") {
  for (const std::int64_t bytes : {1, 2, 4})
    for (std::int64_t chunks = 1; chunks <= 48; ++chunks) {
      const auto tile = shared_tile(32, chunks * 16 / bytes, bytes);
      std::set<std::int64_t> places;
      for (std::int64_t row = 0; row < tile.rows; ++row)
        for (std::int64_t column = 0; column < tile.columns; ++column) places.insert(tile(row, column));
      CAPTURE(bytes, chunks, tile.bits);
      CHECK(places.size() == static_cast<std::size_t>(tile.rows * tile.columns));
      CHECK(*places.rbegin() == tile.rows * tile.columns - 1);
      for (std::int64_t first = 0; first + 8 <= tile.rows; ++first)
        for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
          std::vector<std::int64_t> read;
          for (std::int64_t row = first; row < first + 8; ++row) read.push_back(tile(row, chunk * 16 / bytes) * bytes);
          CHECK(bank_conflicts(read, 16) == 0);
        }
    }
}

TEST_CASE("without a swizzle rows of 128 bytes meet in the same banks") {
  std::vector<std::int64_t> read;
  for (std::int64_t row = 0; row < 8; ++row) read.push_back(row * 128);
  CHECK(bank_conflicts(read, 16) == 7);
  CHECK(bank_conflicts({0, 0, 0}, 4) == 0);  // one word for all
  CHECK(bank_conflicts({0, 128}, 4) == 1);
  CHECK(bank_conflicts({0, 4, 132}, 4) == 1);
}

TEST_CASE("a tile in panels has every entry once, and eight rows of a panel in eight banks") {
  for (const std::int64_t columns : {16, 48, 64, 96, 192}) {
    const auto tile = paneled_tile(16, columns, 2);
    CAPTURE(columns, tile.panel);
    CHECK(columns % tile.panel == 0);
    std::set<std::int64_t> places;
    for (std::int64_t row = 0; row < 16; ++row)
      for (std::int64_t column = 0; column < columns; ++column) places.insert(tile(row, column));
    CHECK(places.size() == static_cast<std::size_t>(16 * columns));
    CHECK(*places.rbegin() == 16 * columns - 1);
    for (std::int64_t column = 0; column < columns; column += 8) {
      std::vector<std::int64_t> rows;
      for (std::int64_t row = 0; row < 8; ++row) rows.push_back(tile(row, column) * 2);
      CHECK(bank_conflicts(rows, 16) == 0);
    }
  }
}
