// What nobody states of a machine, with what is taken for it: one number for all machines, unless a profile or a
// setting gives another. docs/theory.md says why; docs/predictions.md what each of them is worth.
#pragma once

#include "napkin/hardware.hpp"

namespace napkin {

inline double assumed(const std::optional<Sourced<double>>& stated, double otherwise) {
  return stated ? stated->value : otherwise;
}

// What a thread needs beside its arrays: addresses, loop counters, barriers. The pieces of published kernels leave
// their single warps about twenty registers; where teams issue instructions together, which lets them hold longer
// pieces, compilers get by with 48.
inline double registers_for_addresses(const Limits& limits, bool by_teams) {
  return assumed(limits.registers_for_addresses, by_teams ? 48 : 20);
}
// Of what could be hidden behind the busiest part of a core, the share that is not where nothing makes blocks take
// turns.
inline double unhidden(const Limits& limits) { return assumed(limits.unhidden, 0.4); }
// Of each block that a core holds, the part for which it waits at the end of a launch, where masks make lengths differ.
inline double masked_end(const Limits& limits) { return assumed(limits.masked_end, 0.5); }

}  // namespace napkin
