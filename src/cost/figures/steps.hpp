// The number of places that an index with a divisor reaches, such as `(x + 256 * y) / 64`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// A wire of the index: its length, and the indices of the sizes that split it, outermost first.
struct SteppedWire {
  std::int64_t extent;
  const std::vector<std::size_t>& splits;
};
// The places over all combinations of the wires' pieces, and in the combination that reaches most. Both are the
// greatest number on overflow.
struct SteppedReach {
  std::int64_t sum = 0, largest = 0;
};
// `wires` are in the order of the terms of the index, which must stay inside its dimension.
SteppedReach reach_of_steps(const Index&, const std::vector<SteppedWire>& wires, std::span<const std::int64_t> sizes);

}  // namespace napkin
