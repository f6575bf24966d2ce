// Places that pieces of indices with a divisor reach, against all of their positions one by one.
#include "cost/figures/steps.hpp"

#include <algorithm>
#include <functional>
#include <random>

#include "support/catch.hpp"

using namespace napkin;

namespace {

using Positions = std::vector<std::int64_t>;

// The pieces of a wire, each with its positions.
std::vector<Positions> pieces_of(Positions wire, const std::vector<std::size_t>& splits, const Positions& sizes) {
  std::vector<Positions> pieces = {std::move(wire)};
  for (const auto split : splits) {
    std::vector<Positions> smaller;
    for (const auto& piece : pieces)
      for (std::size_t at = 0; at < piece.size(); at += static_cast<std::size_t>(sizes[split])) {
        const auto end = std::min(piece.size(), at + static_cast<std::size_t>(sizes[split]));
        smaller.emplace_back(piece.begin() + static_cast<std::ptrdiff_t>(at),
                             piece.begin() + static_cast<std::ptrdiff_t>(end));
      }
    pieces = std::move(smaller);
  }
  return pieces;
}

}  // namespace

TEST_CASE("pieces of steps reach the places that their positions have between the first and the last", "[cost]") {
  std::mt19937 random(7);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int several = 0;
  for (int round = 0; round < 600; ++round) {
    const auto count = static_cast<std::size_t>(draw(1, 3));
    Index index{{}, draw(-9, 9), draw(2, 12)};
    const std::vector<std::vector<std::size_t>> splits = {{0}, {1, 2}, {3}};
    Positions sizes, extents;
    for (int split = 0; split < 4; ++split) sizes.push_back(draw(1, 9));
    std::vector<SteppedWire> wires;
    std::vector<std::vector<Positions>> pieces;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto coefficient = draw(1, 7) * (draw(0, 3) == 0 ? -1 : 1);
      index.terms.emplace_back(WireId{i}, coefficient);
      extents.push_back(draw(1, 14));
      Positions values;
      for (std::int64_t at = 0; at < extents.back(); ++at) values.push_back(coefficient * at);
      wires.push_back({extents.back(), splits[i]});
      pieces.push_back(pieces_of(std::move(values), splits[i], sizes));
    }
    std::int64_t sum = 0, largest = 0;
    const std::function<void(std::size_t, std::int64_t, std::int64_t)> visit = [&](std::size_t i, std::int64_t least,
                                                                                   std::int64_t most) {
      if (i == count) {
        const auto floor = [&](std::int64_t value) {
          auto place = value / index.divisor;
          while (place * index.divisor > value) --place;
          return place;
        };
        const auto places = floor(most) - floor(least) + 1;
        sum += places, largest = std::max(largest, places), several += places > 1;
        return;
      }
      for (const auto& piece : pieces[i]) {
        const auto [low, high] = std::ranges::minmax(piece);
        visit(i + 1, least + low, most + high);
      }
    };
    visit(0, index.offset, index.offset);
    CAPTURE(round, count, index.divisor, index.offset, sizes, extents);
    const auto reach = reach_of_steps(index, wires, sizes);
    CHECK(reach.sum == sum);
    CHECK(reach.largest == largest);
  }
  CHECK(several > 1000);
}
