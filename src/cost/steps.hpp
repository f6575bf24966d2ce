// How many places an index that takes steps reaches, such as `(x + 256 * y) / 64`.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// A wire of the index, its length, and which sizes split it, outermost first.
struct SteppedWire {
  std::int64_t extent;
  const std::vector<std::size_t>& splits;
};
// Over all combinations of the wires' pieces, or in the one that reaches most. The greatest number on overflow.
struct SteppedReach {
  std::int64_t sum = 0, largest = 0;
};
// `wires` as in the terms of the index, which stays inside its dimension.
SteppedReach reach_of_steps(const Index&, const std::vector<SteppedWire>& wires, std::span<const std::int64_t> sizes);

}  // namespace napkin
