// The formats in which arrays are multiplied and held. docs/theory.md, number formats.
#pragma once

#include <optional>
#include <utility>

#include "napkin/hardware.hpp"
#include "napkin/loops.hpp"

namespace napkin {

// The format in which matrix units multiply two operands; none if lanes multiply them.
std::optional<Datatype> multiplied_as(Datatype a, Datatype b, const Hardware&);
// The same for a diagram, which may leave products in parts to lanes.
std::optional<Datatype> multiplied_as(const Diagram&, std::pair<Datatype, Datatype> operands, const Hardware&);
// How many instructions of that format multiply each pair. An f32 number is the sum of two tf32 numbers up to 2^-24 of
// it, and tf32 has all numbers of f16 and bf16. So a pair of f32 with one of these needs two instructions.
int parts_of(Datatype a, Datatype b);
// Positions of such a pair that kernels contract at a time, which is the length of f16 fragments.
constexpr std::int64_t k_of_parts = 16;
// The format that holds both; f32 for two different formats of the same width.
Datatype wider(Datatype a, Datatype b);

// Sets the formats of all buffers. In registers, operands of matrix units have the format in which they are multiplied.
// Everything else has the format in which its array is stored.
void set_formats(LoopNest&, const Hardware&);

}  // namespace napkin
