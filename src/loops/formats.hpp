// Formats in which arrays are multiplied and held. docs/theory.md, number formats.
#pragma once

#include <optional>

#include "napkin/hardware.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// The format in which matrix units take two operands; none where lanes multiply them.
std::optional<Datatype> multiplied_as(Datatype a, Datatype b, const Hardware&);
// The format that holds both; f32 of two formats of the same width.
Datatype wider(Datatype a, Datatype b);

// Tiles of matrix units' operands stand in registers as they are multiplied; everything else of a nest is held as its
// array is stored.
void set_formats(LoopNest&, const Hardware&);

}  // namespace napkin
