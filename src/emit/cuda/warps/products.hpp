// Products of one warp: fragments of both operands come from shared memory or registers and are the operands of the
// instruction.
#pragma once

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

void print_product(FragmentStatements&, const Product&);
// Declares registers that keep the operand with the wire along rows throughout a stream, and fills them.
void keep_operand(FragmentStatements&, const Product&);

}  // namespace napkin
