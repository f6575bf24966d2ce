// Computes how much of an array affine indices reach: in all pieces of their wires together, or in the largest piece.
//
// The reach of one index that stays inside its dimension is a sum over its wires, and so is the total over all pieces:
// it is the number of combinations of pieces plus, for each wire, the span of its pieces less one each. With a divisor,
// pieces that begin at the same offset within a step are alike. All other indices are walked piece by piece.
#include "cost/reach.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cost/model.hpp"
#include "cost/steps.hpp"
#include "diagram/checked.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

// Calls `visit` with every interval into which nested sizes cut a wire.
template <class Visit>
void each_piece(Interval extent, const std::vector<std::size_t>& splits, std::size_t at,
                std::span<const std::int64_t> sizes, const Visit& visit) {
  if (at == splits.size()) return visit(extent);
  const auto piece = std::min(extent.length(), sizes[splits[at]]);
  for (auto begin = extent.begin; begin < extent.end; begin += piece)
    each_piece({begin, std::min(extent.end, begin + piece)}, splits, at + 1, sizes, visit);
}

}  // namespace

std::int64_t count_pieces(std::int64_t extent, std::span<const std::size_t> splits,
                          std::span<const std::int64_t> sizes) {
  if (splits.empty()) return 1;
  const auto piece = std::min(extent, sizes[splits[0]]);
  if (piece <= 0) return 0;
  const auto inner = splits.subspan(1);
  const auto whole = extent / piece * count_pieces(piece, inner, sizes);
  return extent % piece == 0 ? whole : whole + count_pieces(extent % piece, inner, sizes);
}

namespace {

// Counts the multiples of the modulus among begin + apart, begin + 2 * apart, ..., begin + count * apart. The
// remainders repeat, so that one period of them is enough.
std::int64_t multiples(std::int64_t modulus, std::int64_t begin, std::int64_t apart, std::int64_t count) {
  const auto from = begin % modulus, step = apart % modulus;
  std::int64_t first = 0, at = from, period = 0;
  do {
    if ((at += step) >= modulus) at -= modulus;
    ++period;
    if (at == 0 && first == 0) first = period;
  } while (at != from);
  return first == 0 ? 0 : (count - first + period) / period;
}

}  // namespace

// If two adjacent pieces meet inside a sector, both move that sector.
std::int64_t Sectors::of_pieces(std::int64_t rows, std::int64_t extent, std::span<const std::size_t> splits,
                                std::span<const std::int64_t> sizes, std::int64_t bytes) const {
  const auto pieces = count_pieces(extent, splits, sizes), row = extent * bytes;
  if (pieces == 0) return 0;
  const auto met = multiples(sector_, 0, row, rows - 1) + met_in_rows(rows, row, 0, extent, splits, sizes, bytes);
  return of(0, rows * row) + rows * pieces - 1 - met;
}

std::int64_t Sectors::met_in_rows(std::int64_t rows, std::int64_t row, std::int64_t begin, std::int64_t extent,
                                  std::span<const std::size_t> splits, std::span<const std::int64_t> sizes,
                                  std::int64_t bytes) const {
  if (splits.empty()) return 0;
  const auto piece = std::min(extent, sizes[splits[0]]);
  const auto whole = extent / piece, rest = extent % piece;
  const auto here = started(rows, row, begin, piece * bytes, rest == 0 ? whole - 1 : whole);
  const auto inner = splits.subspan(1);
  if (inner.empty()) return here;
  const auto one = [&](std::int64_t at, std::int64_t length) {
    return met_in_rows(rows, row, (begin + at) % sector_, length, inner, sizes, bytes);
  };
  const auto all = here + sum(whole, piece * bytes, [&](std::int64_t at) { return one(at, piece); });
  return rest == 0 ? all : all + one(whole * piece * bytes % sector_, rest);
}

// Rows begin at multiples of gcd(sector, row) bytes within a sector, and equally often at each of them in a full
// period.
std::int64_t Sectors::started(std::int64_t rows, std::int64_t row, std::int64_t begin, std::int64_t apart,
                              std::int64_t count) const {
  const auto places = std::gcd(sector_, row), period = sector_ / places;
  auto all = rows < period ? 0 : rows / period * multiples(places, begin, apart, count);
  for (std::int64_t i = 0; i < rows % period; ++i) all += multiples(sector_, begin + i * row % sector_, apart, count);
  return all;
}

std::int64_t CostModel::reach(const Footprint& footprint, std::span<const std::int64_t> sizes,
                              const Figures& figures) const {
  if (!footprint.inside) return reach_by_pieces(footprint, sizes);
  const auto& index = footprint.indices[0].first;
  if (index.divisor == 1) return reach_of_sum(footprint, figures);
  std::vector<SteppedWire> wires;
  for (const auto cut : footprint.cuts) wires.push_back({wire_sizes_[cuts_[cut].wire.index], cuts_[cut].splits});
  const auto all = reach_of_steps(index, wires, sizes);
  return footprint.all_pieces ? all.sum : all.largest;
}

// Returns a lower bound. A piece reaches at least as many positions as if it began at the beginning of a step. Every
// piece reaches some position, and every position is reached.
std::int64_t CostModel::least_reach(const Footprint& footprint, std::span<const std::int64_t> sizes,
                                    const Figures& figures) const {
  if (!footprint.steps) return reach(footprint, sizes, figures);
  const auto cut = footprint.cuts[0];
  const auto& index = footprint.indices[0].first;
  const auto places = [&](std::int64_t length) { return index.terms[0].second * (length - 1) / index.divisor + 1; };
  if (!footprint.all_pieces) return places(figures.lengths[cut]);
  return std::max(places(wire_sizes_[cuts_[cut].wire.index]), figures.counts[cut]);
}

// Every combination of pieces reaches at least one value, and a piece of length n adds |c| (n - 1) values.
std::int64_t CostModel::reach_of_sum(const Footprint& footprint, const Figures& figures) const {
  Checked combinations{1}, reached{1};
  for (std::size_t i = 0; i < footprint.cuts.size(); ++i) {
    const auto cut = footprint.cuts[i];
    const auto count = footprint.all_pieces ? figures.counts[cut] : 1;
    Checked more{std::abs(footprint.indices[0].first.terms[i].second)};
    more.times(footprint.all_pieces ? wire_sizes_[cuts_[cut].wire.index] - count : figures.lengths[cut] - 1);
    more.times(combinations.value);
    reached.times(count);
    reached.plus(more.value);
    combinations.times(count);
    reached.overflow = reached.overflow || more.overflow || combinations.overflow;
  }
  return reached.overflow ? INT64_MAX : reached.value;
}

// For all pieces together, adds up the product of the clipped footprints over the combinations of pieces.
std::int64_t CostModel::reach_by_pieces(const Footprint& footprint, std::span<const std::int64_t> sizes) const {
  Intervals at(wire_sizes_.size());
  for (std::size_t w = 0; w < at.size(); ++w) at[w] = {0, wire_sizes_[w]};
  Checked all{0};
  std::int64_t largest = 0;
  const auto visit = [&](const auto& self, std::size_t depth) -> void {
    if (depth < footprint.cuts.size()) {
      const auto& cut = cuts_[footprint.cuts[depth]];
      each_piece({0, wire_sizes_[cut.wire.index]}, cut.splits, 0, sizes, [&](Interval piece) {
        at[cut.wire.index] = piece;
        self(self, depth + 1);
      });
      return;
    }
    Checked values{1};
    for (const auto& [index, size] : footprint.indices) values.times(napkin::footprint(index, at, size).length());
    all.plus(values.overflow ? INT64_MAX : values.value);
    largest = std::max(largest, values.value);
  };
  visit(visit, 0);
  return footprint.all_pieces ? (all.overflow ? INT64_MAX : all.value) : largest;
}

}  // namespace napkin
