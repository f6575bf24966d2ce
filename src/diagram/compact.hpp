// What nothing needs any more.
#pragma once

#include "napkin/diagram.hpp"

namespace napkin {

// Leaves the expressions that statements and assumptions are made of, and the calls whose result is among them.
void drop_unused_expressions(Diagram&);

}  // namespace napkin
