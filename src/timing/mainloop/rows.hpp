// The rows of an iteration, which warpgroups divide among them.
#pragma once

#include <vector>

#include "timing/mainloop/mainloop.hpp"

namespace napkin {

// Measures the pieces of the nest and chooses the rows of each contraction.
void divide_rows(Mainloop&);
// The mainloop of a partition with the same splits in other sizes.
void resize(Mainloop&, const Partition&);

// Wires that may be divided among warpgroups: those that the results of most contractions have from one operand alone.
std::vector<WireId> row_wires(const Mainloop&);

}  // namespace napkin
