// What the sizes of pieces must be multiples of, and why.
#pragma once

#include <map>

#include "configure/step.hpp"
#include "napkin/configure.hpp"

namespace napkin {

std::vector<Divisor> divisors_of(const BlockStep&, const Hardware&, std::int64_t warps_of_team);
// By wire, without the reasons. Rows fill instructions; where several wires may have the rows each fills the rows of
// one warp.
std::map<WireId, std::int64_t> core_divisors(const BlockStep&, const Hardware&);
// Of a warp in each partition of a core, by the first contraction's instruction.
std::int64_t rows_of_team(const BlockStep&, const Hardware&);
// Whether the rows of a block give each partition of the core as many warps, where there are rows enough. Where the
// machine has no instructions of several warps, a block may also be one warp or two.
bool fills_teams(const BlockStep&, const Hardware&);

}  // namespace napkin
