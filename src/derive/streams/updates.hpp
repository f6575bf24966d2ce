// How states take a piece and join each other: the updates of a stream's absorb and merge, from what it carries.
//
// A change of the maximum that exponentials are kept relative to repairs their sums by one factor, a centre that moves
// repairs the moments about it by lower ones; merging two states is the same repair on both sides.
#pragma once

#include "derive/states/states.hpp"

namespace napkin {

// Fills in state, init and other, and appends to absorb and merge.
void write_updates(Diagram& scratch, const States& found, Streamable& to);

}  // namespace napkin
