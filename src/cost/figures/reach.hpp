// How much of an array affine indices reach: in all pieces of their wires together, or in the largest piece.
#pragma once

#include <span>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// A least reach is a lower bound of the reach of a piece, or of all pieces together. With smaller pieces the first
// falls and the second grows.
enum class Reach { exact, least };
// The figures need lengths and, for a footprint of all pieces, counts.
std::int64_t reach_of(const CostModel&, const CostModel::Footprint&, std::span<const std::int64_t> sizes,
                      const Figures&, Reach);
// The slow twin: piece by piece.
std::int64_t reach_by_pieces(const CostModel&, const CostModel::Footprint&, std::span<const std::int64_t> sizes);

}  // namespace napkin
