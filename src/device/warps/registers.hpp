// The sixth phase: how many registers a lane needs, and how many it may have.
#pragma once

#include <functional>

#include "device/warps/lowered.hpp"

namespace napkin {

constexpr std::int64_t most_lane_registers = 255;
// The registers of each lane if `lanes` lanes share the registers of an SM.
constexpr std::int64_t lane_share(std::int64_t lanes) { return 65536 / lanes / 8 * 8; }

struct Registers {
  std::int64_t needed = 0;             // with what is resident
  std::int64_t beside = 0;             // the part of these that the compiler needs in addition to values and operands
  std::int64_t most = 0;               // that a lane may have
  std::set<const Compute*> residents;  // products whose operand of rows stays in registers throughout a stream
  // Of warpgroups: a lane has `first` when the block begins, `lane` while it computes, and `loader_lane` while it
  // copies.
  std::int64_t first = 0, lane = 0, loader_lane = 0;
};
// Takes grids, products, tiles and the overlap. Throws if the lane needs more than it may have.
Registers count_registers(const Lowered&, const WarpNest& found, WireId rows);

// The most registers that any column of a nest needs: for the arrays that it holds, and `beside` them.
std::int64_t most_held(const LoopNest&, const std::function<std::int64_t(BufferId)>& registers_of,
                       const std::function<std::int64_t(const Held&)>& beside);

}  // namespace napkin
