// How states absorb a piece and merge: the updates in a stream's absorb and merge programs, from the carried states.
//
// When the maximum that exponentials are relative to changes, one factor repairs their sums. When a centre moves, the
// moments about it are repaired from lower ones. Merging two states repairs both sides in the same way.
#pragma once

#include "derive/states/states.hpp"

namespace napkin {

// Fills in state, init and other, and appends to absorb and merge.
void write_updates(Diagram& scratch, const States& found, Streamable& to);

}  // namespace napkin
