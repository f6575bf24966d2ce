// How the blocks of a launch are spread over the cores and the levels above them.
#pragma once

#include <vector>

#include "cost/figures/figures.hpp"
#include "napkin/hardware.hpp"

namespace napkin {

struct BlockSpread {
  double turns = 1;                // number of pieces that the memory above the cores holds one after another
  double per_core = 1;             // average number of blocks per core in one turn
  double rounds = 1;               // blocks that the busiest core runs one after another, in all turns
  double busy = 1;                 // average share of the cores at work, over all rounds
  std::vector<double> busy_level;  // by level down to the cores: the share of its children that load something
};
// `spread` is reused.
void spread_blocks(const Hardware&, const Figures&, BlockSpread& spread);

}  // namespace napkin
