// Arrays that need not exist.
#pragma once

#include "napkin/diagram.hpp"

namespace napkin {

// Writes statements that nothing rounds, and that are no outputs, into those that read them, where their arrays have
// two axes of one length: a matrix of t and x never exists.
void write_out(Diagram&);

}  // namespace napkin
