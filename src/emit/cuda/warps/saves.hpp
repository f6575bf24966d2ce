// Saves of the arrays that lanes hold.
#pragma once

#include <functional>
#include <string>

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

// Prints a save, by `store` if the array leaves through shared memory, else from registers.
void print_save(FragmentStatements&, const Save&, const std::function<void(BufferId)>& store = {});

// The number that is saved, in the array's format.
std::string saved_number(FragmentStatements&, BufferId, const OpenFragments&);

}  // namespace napkin
