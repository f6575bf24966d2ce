// The number and the length of the pieces of a wire.
#pragma once

#include <cstdint>
#include <span>

#include "cost/model/model.hpp"

namespace napkin {

// The number of pieces of `extent` under nested sizes. `splits` are the indices of these sizes, outermost first. A
// ragged piece is cut by itself.
std::int64_t count_pieces(std::int64_t extent, std::span<const std::size_t> splits,
                          std::span<const std::int64_t> sizes);
// The length of a whole piece, at least 1.
std::int64_t length_of(const CostModel&, const CostModel::Cut&, std::span<const std::int64_t> sizes);

}  // namespace napkin
