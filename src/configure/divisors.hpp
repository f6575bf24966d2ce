// What the sizes of pieces must be multiples of, and why.
#pragma once

#include <map>

#include "configure/step.hpp"
#include "napkin/configure.hpp"

namespace napkin {

std::vector<Divisor> divisors_of(const BlockStep&, const Hardware&, std::int64_t warps_of_team);
// By wire, without the reasons. Rows fill teams; where several wires may have the rows each fills fragments, and
// whichever has them then fills teams as well.
std::map<WireId, std::int64_t> core_divisors(const BlockStep&, const Hardware&);
// Of the first contraction's instruction.
std::int64_t rows_of_team(const BlockStep&, const Hardware&);
// Whether the rows of a block fill teams of so many, or are all there are.
bool has_whole_teams(const BlockStep&, std::int64_t rows_of_team);

}  // namespace napkin
