// Evaluates sizes of axes: `axis t = b * q`, from integers and earlier axes, checked against overflow.
#pragma once

#include "diagram/resolve/names.hpp"

namespace napkin {

// Fills `axes` from the file and the overrides.
void declare_axes(const ast::File&, const Overrides&, Diagram&, Names&, Diagnostics&);

// Reports an array with too many values; unknown sizes count as 1.
void check_array_size(const Diagram&, const Array&, Diagnostics&);

}  // namespace napkin
