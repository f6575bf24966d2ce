#include "cost/regions/cutting.hpp"

#include <algorithm>

#include "diagram/checked.hpp"

namespace napkin {
namespace {

std::int64_t leaves_of(std::int64_t length, const std::vector<std::int64_t>& sizes, std::size_t split) {
  if (split == sizes.size()) return 1;
  const auto size = std::clamp<std::int64_t>(sizes[split], 1, length), rest = length % size;
  const auto whole = saturating_multiply(length / size, leaves_of(size, sizes, split + 1));
  return rest == 0 ? whole : saturating_add(whole, leaves_of(rest, sizes, split + 1));
}

// Adds the row to each of `count` blocks of `size`, the first of which begins at `begin`.
void repeat(const PieceRow& row, std::int64_t begin, std::int64_t size, std::int64_t count,
            std::vector<PieceRow>& all) {
  const auto add = [&](std::int64_t from, std::int64_t stride, std::int64_t pieces) {
    all.push_back({begin + from, stride, pieces, row.length, row.leaves});
  };
  if (row.count == 1) return add(row.begin, size, count);
  if (row.stride * row.count == size) return add(row.begin, row.stride, row.count * count);
  if (row.count < count)
    for (std::int64_t k = 0; k < row.count; ++k) add(row.begin + k * row.stride, size, count);
  else
    for (std::int64_t k = 0; k < count; ++k) add(row.begin + k * size, row.stride, row.count);
}

void add_rows(Interval piece, const std::vector<std::int64_t>& sizes, std::size_t split, std::size_t splits,
              std::vector<PieceRow>& all) {
  const auto length = piece.length();
  if (split == splits) {
    all.push_back({piece.begin, length, 1, length, leaves_of(length, sizes, split)});
    return;
  }
  const auto size = std::clamp<std::int64_t>(sizes[split], 1, length), count = length / size;
  std::vector<PieceRow> inside;
  add_rows({0, size}, sizes, split + 1, splits, inside);
  for (const auto& row : inside) repeat(row, piece.begin, size, count, all);
  if (count * size < length) add_rows({piece.begin + count * size, piece.end}, sizes, split + 1, splits, all);
}

}  // namespace

Pieces::Pieces(const Cutting& cutting) : extent_(cutting.extent), sizes_(cutting.sizes) {
  auto most = std::max<std::int64_t>(1, extent_);
  for (auto& size : sizes_) most = size = std::clamp<std::int64_t>(size, 1, most);
  for (std::size_t split = 0; split < sizes_.size(); ++split)
    leaves_.push_back(static_cast<std::size_t>(leaves_of(sizes_[split], sizes_, split + 1)));
  count_ = static_cast<std::size_t>(leaves_of(extent_, sizes_, 0));
}

Interval Pieces::at(std::size_t piece, std::size_t splits) const {
  Interval around{0, extent_};
  for (std::size_t split = 0; split < splits; ++split) {
    const auto block = piece / leaves_[split];
    piece -= block * leaves_[split];
    around.begin += static_cast<std::int64_t>(block) * sizes_[split];
    around.end = std::min(around.end, around.begin + sizes_[split]);
  }
  return around;
}

std::vector<PieceRow> rows(const Cutting& cutting, std::size_t splits) {
  std::vector<PieceRow> all;
  add_rows({0, cutting.extent}, cutting.sizes, 0, splits, all);
  return all;
}

}  // namespace napkin
