// Assumptions about numbers that no source states: one value for all machines, unless a profile or a setting gives
// another. docs/theory.md gives the reasons, docs/predictions.md the effect of each of them.
#pragma once

#include <algorithm>
#include <optional>

#include "napkin/hardware.hpp"

namespace napkin {

inline double assumed(const std::optional<Sourced<double>>& stated, double otherwise) {
  return stated ? stated->value : otherwise;
}

// Blocks that a core holds together, of a kernel without a launch configuration: they are assumed to have 256 threads.
inline double blocks_together(const Limits& limits) {
  constexpr double threads_of_block = 256;
  return limits.threads_per_sm ? std::max(1.0, limits.threads_per_sm->value / threads_of_block) : 1;
}
// The share of the time that could be hidden behind the busiest part of a core that is not hidden, if nothing makes
// blocks take turns.
inline double unhidden(const Limits& limits) { return assumed(limits.unhidden, 0.4); }
// The part of each resident block for which a core waits at the end of a launch, if masks make blocks differ in length.
inline double masked_end(const Limits& limits) { return assumed(limits.masked_end, 0.5); }

}  // namespace napkin
