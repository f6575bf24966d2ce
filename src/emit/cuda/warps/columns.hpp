// Columns on fragments.
#pragma once

#include <functional>

#include "emit/cuda/warps/statements.hpp"

namespace napkin {

// Prints a column, unless it is computed where it is read. `multiply` prints it if it is a product.
void print_column(FragmentStatements&, const Compute&, const std::function<void(const Product&)>& multiply);

}  // namespace napkin
