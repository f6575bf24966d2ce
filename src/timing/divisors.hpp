// What the sizes of pieces must be multiples of, and why.
#pragma once

#include <cstdint>
#include <map>

#include "napkin/timing.hpp"
#include "timing/mainloop.hpp"

namespace napkin {

std::vector<Divisor> divisors_of(const Mainloop&, const Hardware&, std::int64_t warps_of_warpgroup);
// By wire, without the reasons. Of whole lines and rows of all that issue together; or by the least that wastes
// nothing: whole sectors, and rows of one warp.
enum class Fineness : std::uint8_t { lines, least };
std::map<WireId, std::int64_t> core_divisors(const Mainloop&, const Hardware&, Fineness);
// Of a warp in each partition of a core, by the first contraction's instruction.
std::int64_t rows_of_warpgroup(const Mainloop&, const Hardware&);
// Whether the rows of a block fill instructions: of several warps, that of all partitions of the core.
bool fills_warpgroups(const Mainloop&, const Hardware&);

}  // namespace napkin
