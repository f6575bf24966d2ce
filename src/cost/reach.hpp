// Numbers of pieces, and arithmetic that remembers that it overflowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace napkin {

struct Checked {
  std::int64_t value;
  bool overflow = false;
  void times(std::int64_t factor) { overflow = __builtin_mul_overflow(value, factor, &value) || overflow; }
  void plus(std::int64_t more) { overflow = __builtin_add_overflow(value, more, &value) || overflow; }
};

// Pieces of `extent` under nested sizes, of which `splits` names those that count, outermost first; ragged last pieces
// are cut on their own.
std::int64_t count_pieces(std::int64_t extent, std::span<const std::size_t> splits,
                          std::span<const std::int64_t> sizes);

// Sectors of a memory, in which its rows begin where they do. Two pieces that share a sector move it both.
class Sectors {
 public:
  explicit Sectors(std::int64_t sector) : sector_(sector) {}
  // Of so many bytes that lie together.
  std::int64_t of(std::int64_t begin, std::int64_t bytes) const {
    return (begin + bytes + sector_ - 1) / sector_ - begin / sector_;
  }
  // Of the pieces of adjacent rows, each of `extent` positions of `bytes` bytes, cut as count_pieces() says.
  std::int64_t of_pieces(std::int64_t rows, std::int64_t extent, std::span<const std::size_t> splits,
                         std::span<const std::int64_t> sizes, std::int64_t bytes) const;
  // Added up over so many that begin so many bytes apart: again and again the same places in a sector.
  template <class OfOne>
  std::int64_t sum(std::int64_t count, std::int64_t apart, const OfOne& of_one) const {
    const auto period = sector_ / std::gcd(sector_, apart), step = apart % sector_, rest = count % period;
    std::int64_t all = 0, left = 0, at = 0;
    for (std::int64_t i = 0; i < std::min(count, period); ++i) {
      const auto one = of_one(at);
      all += one, left += i < rest ? one : 0;
      if ((at += step) >= sector_) at -= sector_;
    }
    return count / period * all + left;
  }

 private:
  // Boundaries between pieces that coincide with the first byte of a sector, added up over all rows.
  std::int64_t met_in_rows(std::int64_t rows, std::int64_t row, std::int64_t begin, std::int64_t extent,
                           std::span<const std::size_t> splits, std::span<const std::int64_t> sizes,
                           std::int64_t bytes) const;
  // The same of `count` boundaries only, `apart` bytes from each other.
  std::int64_t started(std::int64_t rows, std::int64_t row, std::int64_t begin, std::int64_t apart,
                       std::int64_t count) const;

  std::int64_t sector_;
};

}  // namespace napkin
