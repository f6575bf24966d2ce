// The divisors of pieces, and the reasons for them.
#pragma once

#include <cstdint>
#include <map>

#include "napkin/timing.hpp"
#include "timing/mainloop/mainloop.hpp"

namespace napkin {

std::vector<Divisor> divisors_of(const Mainloop&, const Hardware&, std::int64_t warps_of_warpgroup);
// Divisors by wire, without the reasons: for whole lines and the rows of all warps that issue together, or the least
// that waste nothing, for whole sectors and the rows of one warp.
enum class Fineness : std::uint8_t { lines, least };
std::map<WireId, std::int64_t> core_divisors(const Mainloop&, const Hardware&, Fineness);
// The rows of one warp in each partition of a core, by the first contraction's instruction.
std::int64_t rows_of_warpgroup(const Mainloop&, const Hardware&);
// Whether the rows of a block fill instructions; if several warps issue one, those of all partitions of the core.
bool fills_warpgroups(const Mainloop&, const Hardware&);

}  // namespace napkin
