// Where the numbers of an array lie. A result that statements make in parts is one array of the file: its parts lie in
// the same memory, each at its own positions along the axis that is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// One dimension of the memory: offset + (the sum of factor * position along a dimension of the array).
struct MemoryDimension {
  AxisId axis;  // its size is the size of the dimension
  std::vector<std::pair<std::size_t, std::int64_t>> terms;
  std::int64_t offset = 0;
};
// The dimensions of the memory, slowest first, like those of the array.
std::vector<MemoryDimension> in_memory(const Diagram&, ArrayId);

// The place in memory of every number of the array, last dimension fastest. All sizes must be known.
std::vector<std::int64_t> places_in_memory(const Diagram&, ArrayId);

// The diagram as a caller sees it: the parts of a result are one output.
Diagram with_whole_outputs(Diagram);

}  // namespace napkin
