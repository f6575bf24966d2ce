// Random small diagrams: chains of statements in which the patterns that stream, and those that do not, are common.
#pragma once

#include <cstdint>
#include <random>

#include "napkin/diagram.hpp"

namespace napkin::testing {

// The same seed gives the same diagram. Every axis has a size from 1 to 6.
Diagram random_diagram(std::uint32_t seed);

// Inputs between -1 and 1 (bool inputs 0 or 1), everything else empty.
Values random_inputs(const Diagram&, std::uint32_t seed);

}  // namespace napkin::testing
