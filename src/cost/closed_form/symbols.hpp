// The products of a cost model at the first level below the outermost, as posynomials in the sizes of axes and pieces.
//
// Numbers of pieces are ratios, not rounded up, and an affine index reaches |c| times the piece of each of its wires:
// the leading order of the exact counts.
#pragma once

#include "cost/closed_form/posynomial.hpp"
#include "cost/model/model.hpp"

namespace napkin {

constexpr std::size_t only_level = 1;  // that products are asked of: the first below the outermost

struct Symbolic {
  Posynomial transfers;           // in values
  Posynomial weighted_transfers;  // in bytes, or in values where the level counts values
  Posynomial memory;              // in values
  Posynomial weighted_memory;     // each value counted with its bytes, or as 1 where the level counts values
  Assignment sizes;               // of the axes that have one
  Assignment largest, written;    // of every piece: its axis, where that has a size, and what the partition says
  bool sized = true;              // every axis that occurs has a size
};
// The operations of one kind of work, by index into CostModel::work.
Posynomial operations(const CostModel&, const Kernel& shape, std::size_t work);
Symbolic symbols(const CostModel&, const Kernel& shape, const Hardware&, Model);

}  // namespace napkin
