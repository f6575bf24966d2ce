// Columns and saves on fragments.
#pragma once

#include <functional>
#include <string>

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

// Prints a column, unless it is computed where it is read. `multiply` prints it if it is a product.
void print_column(FragmentStatements&, const Compute&, const std::function<void(const Product&)>& multiply);

// Prints a save, by `store` if the array leaves through shared memory, else from registers.
void print_save(FragmentStatements&, const Save&, const std::function<void(BufferId)>& store = {});
// The number that is saved, in the array's format.
std::string saved_number(FragmentStatements&, BufferId, const OpenFragments&);

}  // namespace napkin
