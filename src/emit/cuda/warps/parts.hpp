// Operands of products in parts: numbers of f32 are split into two, and 16-bit numbers are widened to tf32.
#pragma once

#include <string>

#include "emit/cuda/warps/operands.hpp"

namespace napkin {

// Prints statements that fill the registers `to` with the current fragment of the step.
void load_parts(FragmentStatements&, const OperandSide&, const std::string& to);

}  // namespace napkin
