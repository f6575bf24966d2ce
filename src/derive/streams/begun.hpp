// A state that pieces read only together with a value from before the loop can begin with that value (S9).
#pragma once

#include <set>

#include "napkin/derive.hpp"

namespace napkin {

// If one column alone reads the state of a stream in order, and combines it with a value that is the same at every
// position, such as what earlier groups have left, the state begins with that value. Then the column is not needed.
// `needed` arrays keep their columns. The value may read none of those that are `made` by columns: what a state begins
// with is read from outside.
void begin_with_what_is_before(Diagram& scratch, Streamable&, ArrayId state, WireId, const std::set<ArrayId>& needed,
                               const std::set<ArrayId>& made);

}  // namespace napkin
