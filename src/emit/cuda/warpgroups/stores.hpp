// Outputs of a warpgroup that are stored through shared memory: fragments are written into the tile, then boxes of the
// tile into the array by TMA. If rows of the array are not aligned, the tile is copied number by number.
#pragma once

#include <string>
#include <vector>

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

// Comments in the kernel's head, the function's parameters, and the declarations of tiles in shared memory.
void describe_stores(FragmentPage&);
std::vector<std::string> store_parameters(const FragmentPage&);
void declare_stores(FragmentPage&);
// Prints the store of one output, and the wait for all stores at the kernel's end.
void print_store(FragmentStatements&, BufferId);
void end_stores(FragmentPage&);

}  // namespace napkin
