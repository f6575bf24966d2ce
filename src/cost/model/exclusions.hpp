// What masks leave out of a product, and the loops that skip it.
#pragma once

#include <span>

#include "cost/model/walked.hpp"

namespace napkin {

// The pieces down to a level of which masks exclude some. `masks` are those of a column that counts only pieces that
// test a mask, or only those that do not.
struct Excluding {
  std::size_t level;
  Region::Part part = Region::Part::run;
  std::span<const Condition> masks{};
};

// Leaves the pieces that masks exclude out of a product at the place that the walk has reached: those that conditions
// exclude, and the share that random masks do.
void exclude(Walked&, CostModel::Product&, const Excluding&);
// Adds the share of pieces that pass this test.
void add_share(Walked&, const MaskTest&);
// True if the loop may skip pieces.
bool passes_over(const For&);
// Counts the pieces of a loop that run, after its body has been walked.
void count_mask(Walked&, const For&, CostModel::Mask&);

}  // namespace napkin
