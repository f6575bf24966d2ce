// Removing arrays that need not exist.
#pragma once

#include "napkin/diagram.hpp"

namespace napkin {

// Inlines statements that are neither rounded nor outputs into those that read them, if their arrays have two axes of
// the same length. So a matrix of t and x never exists.
void write_out(Diagram&);

}  // namespace napkin
