// What the blocks of a launch demand in total, for whoever times the launch.
#pragma once

#include "cost/figures/figures.hpp"
#include "cost/model/model.hpp"

namespace napkin {

// The total demand of the blocks of a launch, which does not depend on how cores run them.
struct Demand {
  std::int64_t blocks = 1;         // groups at the core's level
  double turns = 1, per_core = 1;  // as in BlockSpread
  double tensor_operations = 0;
  double whole = 1;  // positions of all pieces if ragged pieces count as whole ones, divided by the actual positions
  double units_ideal_s = 0, units_s = 0;  // of the busiest unit, all cores at work: at datasheet and sustained rates
  double compulsory_bytes = 0;            // into the cores' memories; counts more if some memories above them are idle
  double outer_ideal_s = 0, outer_s = 0;  // of the slowest level above the cores
  // The time of what siblings hold, if the level above consists of their memories: the part before the first step, the
  // part that arrives during the steps, and the number of these steps.
  double crossing_once_s = 0, crossing_s = 0, crossing_steps = 1;
  bool masked = false;  // blocks differ in length
  double masks_s = 0;   // of lanes that test masks in pieces that a mask cuts; all cores at work, sustained rate
};

Demand demand_of(const CostModel&, const Figures&);  // also for bounds; `whole` stays 1
Demand whole_demand_of(const CostModel&,
                       const Figures&);  // the same with `whole`, which needs the counts of evaluate()

}  // namespace napkin
