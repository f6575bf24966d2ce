// The instruction that each sum of products runs on.
#pragma once

#include <vector>

#include "napkin/summary.hpp"
#include "timing/mainloop/mainloop.hpp"

namespace napkin {

// Of the products that a block's step runs on matrix units: the instruction with its real shape, and what the sizes and
// formats of the operands cost there.
void name_instructions(const Mainloop&, std::vector<MatrixProduct>&);

}  // namespace napkin
