// Counts the sectors of pieces by the boundaries between them that lie at the first byte of a sector.
#include "cost/figures/sectors.hpp"

#include "cost/figures/pieces.hpp"

namespace napkin {
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

}  // namespace napkin
