// The turns that groups take, and what groups hold while they wait. docs/theory.md, memory.
#pragma once

#include <cstddef>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

// Groups of a level take turns between the edges of the loops of levels above, where they wait for each other. Groups
// whose turn is still to come hold `before`; groups whose turn is over hold `after`.
struct Turn {
  std::size_t level = 2;   // no loop surrounds the groups of level 1
  std::size_t number = 0;  // columns of one turn have the same number
  std::vector<BufferId> before, after;
};

// For every column, in the order of `held`, its turn at every level from 2 on.
std::vector<std::vector<Turn>> turns(const LoopNest&);

}  // namespace napkin
