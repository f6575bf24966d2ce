// Sizes of axes at which a diagram can be run.
#pragma once

#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// The axes, and the parts of those that are divided.
std::vector<AxisId> with_parts(const Diagram&, std::vector<AxisId> axes);

// Arrays that are read at sums of positions get as long as the largest.
void make_room(Diagram&);

// The same diagram with a single position of every axis, with shorter and with longer axes, as far as every index
// stays inside its array. The axes of `limited` do not get longer.
std::vector<Diagram> at_other_sizes(const Diagram&, const std::vector<AxisId>& limited);

}  // namespace napkin
