// Random small diagrams: chains of statements in which the patterns that stream, and those that do not, are common.
// Every one is the reading of a `.nap` file, which reproduces it.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "napkin/diagram.hpp"

namespace napkin::testing {

// The same seed gives the same diagram. Every axis has a size from 1 to 6, that of a halo more.
Diagram random_diagram(std::uint32_t seed);
// The diagram before it is printed and read: uses of an axis that never meet are one wire there.
Diagram drawn_diagram(std::uint32_t seed);

// A file that reads as the diagram.
std::string file_text(const Diagram&);

// Inputs between -1 and 1 (bool inputs 0 or 1), everything else empty.
Values random_inputs(const Diagram&, std::uint32_t seed);

}  // namespace napkin::testing
