// Sizes of axes at which a diagram can run.
#pragma once

#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// The axes, and the parts of divided ones among them.
std::vector<AxisId> with_parts(const Diagram&, std::vector<AxisId> axes);

// Makes arrays that are read at sums of positions as long as the largest sum needs.
void make_room(Diagram&);

// The same diagram with a single position of every axis, with shorter axes and with longer axes, as far as every index
// stays inside its array. Axes of `limited` do not get longer.
std::vector<Diagram> at_other_sizes(const Diagram&, const std::vector<AxisId>& limited);

}  // namespace napkin
