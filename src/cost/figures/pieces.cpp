// Counts the pieces of a wire size by size.
#include "cost/figures/pieces.hpp"

#include <algorithm>

namespace napkin {

std::int64_t count_pieces(std::int64_t extent, std::span<const std::size_t> splits,
                          std::span<const std::int64_t> sizes) {
  if (splits.empty()) return 1;
  const auto piece = std::min(extent, sizes[splits[0]]);
  if (piece <= 0) return 0;
  const auto inner = splits.subspan(1);
  const auto whole = extent / piece * count_pieces(piece, inner, sizes);
  return extent % piece == 0 ? whole : whole + count_pieces(extent % piece, inner, sizes);
}

std::int64_t length_of(const CostModel& model, const CostModel::Cut& cut, std::span<const std::int64_t> sizes) {
  auto length = std::max<std::int64_t>(1, model.wire_sizes[cut.wire.index]);
  for (const auto split : cut.splits) length = std::min(length, sizes[split]);
  return length;
}

}  // namespace napkin
