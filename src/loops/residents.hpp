// The memory of a nest at its fullest instants, counted group by group.
#pragma once

#include <cstdint>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

struct Fullest {
  std::int64_t values = 0, bytes = 0;
};

// The most that one memory of each level from 1 on holds, by level - 1. All groups run in the order in which children
// take their turns, and the sizes of all live pieces of all buffers are added up over all groups that have begun and
// not ended. For a memory that groups share, the result is the part of one of them. Pieces that a mask excludes run
// too. For small sizes only.
std::vector<Fullest> residents(const LoopNest&, const Hardware&);

}  // namespace napkin
