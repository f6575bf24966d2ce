// Formats in which arrays are multiplied and held. docs/theory.md, number formats.
#pragma once

#include <optional>
#include <utility>

#include "napkin/hardware.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// The format in which matrix units take two operands; none where lanes multiply them.
std::optional<Datatype> multiplied_as(Datatype a, Datatype b, const Hardware&);
// The same in a diagram, which may leave products in parts to lanes.
std::optional<Datatype> multiplied_as(const Diagram&, std::pair<Datatype, Datatype> operands, const Hardware&);
// How many instructions of that format multiply each pair. A number of f32 is the sum of two of tf32 but for 2^-24 of
// it, and tf32 has all numbers of f16 and bf16: such a pair takes two.
int parts_of(Datatype a, Datatype b);
// Positions that kernels contract at a time of such a pair: fragments of f16 have so many.
constexpr std::int64_t k_of_parts = 16;
// The format that holds both; f32 of two formats of the same width.
Datatype wider(Datatype a, Datatype b);

// Tiles of matrix units' operands stand in registers as they are multiplied; everything else of a nest is held as its
// array is stored.
void set_formats(LoopNest&, const Hardware&);

}  // namespace napkin
