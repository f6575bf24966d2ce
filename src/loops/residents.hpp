// What a nest holds at its fullest instants, group by group.
#pragma once

#include <cstdint>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

struct Fullest {
  std::int64_t values = 0, bytes = 0;
};

// Of one memory of every level from 1 on, by level - 1: all groups run in the order in which children take their turns,
// and what every live piece of every buffer holds is added up, over all groups that have begun and not ended. Of a
// memory that groups share, the part of one of them. Pieces that a mask leaves out are run too. For small sizes only.
std::vector<Fullest> residents(const LoopNest&, const Hardware&);

}  // namespace napkin
