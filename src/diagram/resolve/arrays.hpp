// Declares the arrays of a file: inputs, then the results of statements.
#pragma once

#include "diagram/resolve/names.hpp"

namespace napkin {

// Fills `arrays`, `inputs` and one use of an axis per dimension. Axes must be declared before.
void declare_arrays(const ast::File&, const Overrides&, Diagram&, Names&, Diagnostics&);

}  // namespace napkin
