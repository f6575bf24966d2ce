// The arrays that memories hold and transfer, by name.
#pragma once

#include <vector>

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// Into how many parts a memory is divided: one per group if all children of a parent share the memory.
std::int64_t parts_of(const CostModel&, std::size_t level, const Figures&);
// What a memory holds at its fullest instant, the largest array first. If groups share the memory, the result is the
// part of one group. The figures are those of evaluate().
std::vector<HeldArray> held_arrays(const CostModel&, Figures, std::size_t level);
// What each array transfers into a level, in the order of the nest.
std::vector<ArrayCost> moved_arrays(const CostModel&, const Diagram&, const Figures&, std::size_t level);

}  // namespace napkin
