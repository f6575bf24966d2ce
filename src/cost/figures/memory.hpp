// What memories hold at their fullest instant: of one group, and of all groups that share a memory.
#pragma once

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// Values and bytes, or only what each level counts.
enum class Counted { everything, by_level };
struct LevelRange {
  std::size_t first, last;
};
// The figures need lengths, reaches of one piece, and groups of a parent. Levels that the machine lacks do not matter.
void find_memory(const CostModel&, Counted, LevelRange, Figures&);

// Sets the instances of the figures: how many groups are active in one memory of a level, and how many wait at each
// level.
void find_instances(const CostModel&, std::size_t level, Figures&);
// The first level below whose groups take turns; 0 if there is none.
std::size_t turns_below(const CostModel&, std::size_t level, const Figures&);

}  // namespace napkin
