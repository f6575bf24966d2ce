// Where groups take turns, and what they keep meanwhile. docs/theory.md, memory.
#pragma once

#include <cstddef>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

// Groups of a level take turns between the edges of loops of levels above it, where they wait for each other. Those
// whose turn is still to come hold `before`, those whose turn is over `after`.
struct Turn {
  std::size_t level = 2;   // nothing surrounds the groups of level 1
  std::size_t number = 0;  // columns of one turn have the same
  std::vector<BufferId> before, after;
};

// For every column, in the order of `held`, its turn at every level from 2 on.
std::vector<std::vector<Turn>> turns(const LoopNest&);

}  // namespace napkin
