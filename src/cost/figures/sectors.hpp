// Numbers of sectors of a memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

namespace napkin {

// Counts sectors of a memory. Rows may begin within a sector, and two pieces that share a sector both move it.
class Sectors {
 public:
  explicit Sectors(std::int64_t sector) : sector_(sector) {}
  // The sectors of contiguous bytes from `begin` on.
  std::int64_t of(std::int64_t begin, std::int64_t bytes) const {
    return (begin + bytes + sector_ - 1) / sector_ - begin / sector_;
  }
  // The sectors of all pieces of adjacent rows. Each row has `extent` positions of `bytes` bytes and is cut as in
  // count_pieces().
  std::int64_t of_pieces(std::int64_t rows, std::int64_t extent, std::span<const std::size_t> splits,
                         std::span<const std::int64_t> sizes, std::int64_t bytes) const;
  // The sum of `of_one` over `count` places that are `apart` bytes from each other. Their offsets in a sector are
  // periodic.
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
  // The number of boundaries between pieces at the first byte of a sector, in all rows.
  std::int64_t met_in_rows(std::int64_t rows, std::int64_t row, std::int64_t begin, std::int64_t extent,
                           std::span<const std::size_t> splits, std::span<const std::int64_t> sizes,
                           std::int64_t bytes) const;
  // The same for `count` boundaries of a row that are `apart` bytes from each other.
  std::int64_t started(std::int64_t rows, std::int64_t row, std::int64_t begin, std::int64_t apart,
                       std::int64_t count) const;

  std::int64_t sector_;
};

}  // namespace napkin
