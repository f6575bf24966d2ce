// The sixth phase: how many registers a lane needs, and how many it may have.
#pragma once

#include <functional>

#include "device/warps/lowered.hpp"

namespace napkin {

constexpr std::int64_t most_lane_registers = 255;
// The registers of each lane if `lanes` lanes share the registers of an SM.
constexpr std::int64_t lane_share(std::int64_t lanes) { return 65536 / lanes / 8 * 8; }

// Counts the registers, and keeps operands of rows in registers throughout a stream. Takes grids, products, tiles and
// the overlap. Throws if the lane needs more than it may have.
void count_registers(WarpNest&, const Lowered&, WireId rows);

// The most registers that any column of a nest needs: for the arrays that it holds, and `beside` them.
std::int64_t most_held(const LoopNest&, const std::function<std::int64_t(BufferId)>& registers_of,
                       const std::function<std::int64_t(const Held&)>& beside);

}  // namespace napkin
