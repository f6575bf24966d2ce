// Sizes of axes: `axis t = b * q`, from integers and earlier axes, checked against overflow.
#pragma once

#include "diagram/resolve/names.hpp"

namespace napkin {

// Fills `axes` from the file and the overrides.
void declare_axes(const ast::File&, const Overrides&, Diagram&, Names&, Diagnostics&);

// The number of values of an array, or nothing while a size is not known. Too many are a diagnostic.
void check_array_size(const Diagram&, const Array&, Diagnostics&);

}  // namespace napkin
