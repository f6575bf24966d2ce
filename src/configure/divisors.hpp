// What the sizes of pieces must be multiples of, and why.
#pragma once

#include <map>

#include "configure/step.hpp"
#include "napkin/configure.hpp"

namespace napkin {

std::vector<Divisor> divisors_of(const BlockStep&, const Hardware&, std::int64_t warps_of_team);
// By wire, without the reasons, for full teams.
std::map<WireId, std::int64_t> core_divisors(const BlockStep&, const Hardware&);

}  // namespace napkin
