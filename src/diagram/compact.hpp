// Removing expressions that nothing uses any more.
#pragma once

#include "napkin/diagram.hpp"

namespace napkin {

// Keeps only the expressions that statements and assumptions consist of, and the calls whose result is among them.
void drop_unused_expressions(Diagram&);

}  // namespace napkin
