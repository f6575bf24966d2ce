// How the lanes of a row read inputs.
#pragma once

#include "emit/cuda/rows/row_page.hpp"

namespace napkin {

// Prints a load, unless columns read the input where they need it.
void print_load(RowPage&, const Load&);
// Declares the current vector of an input. Rows in shared memory have it there; else it is read from memory.
void read_staged_vector(RowPage&, BufferId);
void read_vector(RowPage&, BufferId, const OpenRow&);
// The address of the number that an access reads at the current position.
std::string input_address(const RowPage&, const Access&, const OpenRow&);

}  // namespace napkin
