// The pieces into which nested sizes cut a wire, without a list of them.
#pragma once

#include "cost/regions/region.hpp"

namespace napkin {

// The leaf pieces in order, each with the pieces of the splits around it.
class Pieces {
 public:
  explicit Pieces(const Cutting&);
  std::size_t count() const { return count_; }
  // The interval around a leaf after the first `splits` splits: the whole wire after none, the leaf itself after all.
  Interval at(std::size_t piece, std::size_t splits) const;
  Interval leaf(std::size_t piece) const { return at(piece, sizes_.size()); }

 private:
  std::int64_t extent_;
  std::vector<std::int64_t> sizes_;  // none greater than the one before
  std::vector<std::size_t> leaves_;  // number of leaves in a piece of each size
  std::size_t count_;
};

// Pieces of one length at equal distances.
struct PieceRow {
  std::int64_t begin = 0, stride = 0, count = 1;
  std::int64_t length = 0;
  std::int64_t leaves = 1;  // of each piece
};

// The pieces after the first `splits` splits, in few rows: at most `splits + 1` if every size divides the one before
// it.
std::vector<PieceRow> rows(const Cutting&, std::size_t splits);

}  // namespace napkin
