// The fragments of which rows of the tables are made.
#pragma once

#include "napkin/instructions.hpp"

namespace napkin {

// Of an operand, as the PTX ISA has them for all shapes and types. With g = lane / 4 and t = lane % 4 a lane has rows g
// and each 8 further on, and with r values in a register columns r * t and on, and in other registers each 4 * r
// further on. Of several warps each has as many rows, after those of the one before.
Fragment operand_fragment(std::int64_t rows, std::int64_t k, Datatype, int warps = 1);
// Of the sums: rows g and g + 8, columns 2 * t and 2 * t + 1.
Fragment accumulator_fragment(int warps = 1);

}  // namespace napkin
