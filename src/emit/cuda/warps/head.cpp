// Prints what a kernel on matrix units begins with, whichever threads copy its tiles.
#include "emit/cuda/warps/head.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit/cuda/warps/buffers.hpp"
#include "text/quantity.hpp"

namespace napkin {
namespace {

// ", 3 stages that a producer warpgroup fills", of the tiles of a stream; empty if there is one copy of them.
std::string stages_of(const WarpNest& warps, const For& loop, const std::string& filled) {
  std::int64_t copies = 1;
  for (const auto id : warps.tiles_loaded(loop.body)) copies = std::max(copies, warps.tiles.at(id).copies);
  return copies > 1 ? fmt::format(", {} stages{}", copies, filled) : "";
}

// Which tiles of the group a block, or a warp, takes.
std::string tiles_of_group(const FragmentPage& page, const GroupPrinter& groups, const Split& group) {
  constexpr auto rows = accumulator_tile.rows;
  const auto issuing = page.warps.issuing_warps;
  if (groups.is_block(group))
    return page.warps.scheduler.persistent ? "each block takes one tile at a time" : "one tile for each block";
  return issuing > 1 && group.size > rows ? fmt::format("for each warp, {} of every {}", rows, rows * issuing)
                                          : "one tile for each warp";
}

// The rows of a warpgroup are consecutive. Each instruction covers the next rows, and each warp has one tile of them.
void declare_rows_of_warpgroup(FragmentPage& page, GroupPrinter& groups, const GroupPrinter::Entered& rows) {
  const auto issuing = page.warps.issuing_warps;
  const auto together = accumulator_tile.rows * issuing, all = rows.group->size * issuing;
  if (rows.around.is_whole()) page.limit(rows.group->wire);
  const auto offset =
      fmt::format("{0} / {1} * {2} + {0} % {1} * {3}", page.lanes.warp, issuing, all, accumulator_tile.rows);
  groups.print(rows, offset, all - together + accumulator_tile.rows);
}

// Notes the position of a piece of one position, unless the piece is whole.
void set_position(WirePiece& piece) {
  if (piece.extent != 1 || piece.is_whole()) return;
  piece.position = piece.by_thread ? clamped(piece.begin, piece) : piece.begin;
}

}  // namespace

void describe_warps(FragmentPage& page, GroupPrinter& groups, const std::string& by, const std::string& filled) {
  const auto& warps = page.warps;
  page.out.line("// {}, by {} warps with {} of shared memory, products by {}.", page.outputs(), warps.warps,
                held(static_cast<double>(warps.shared_bytes)), by);
  page.out.line(
      "// Planned registers of a thread: {}, of which {} for values and operands and {} for the rest; at most {}.",
      warps.registers, warps.registers - warps.registers_beside, warps.registers_beside, warps.most_registers);
  groups.describe([&](const Split& group) { return tiles_of_group(page, groups, group); },
                  [&](const For& loop) { return stages_of(warps, loop, filled); });
}

void declare_lanes(FragmentPage& page) {
  const auto& lanes = page.lanes;
  page.out.declare(lanes.warp, fmt::format("threadIdx.x / {}", lanes_of_warp));
  page.out.declare(lanes.lane, fmt::format("threadIdx.x % {}", lanes_of_warp));
  page.out.declare(lanes.group, fmt::format("{} / {}", lanes.lane, accumulator_tile.quads()),
                   "the lane's rows of fragments");
  page.out.declare(lanes.quad, fmt::format("{} % {}", lanes.lane, accumulator_tile.quads()), "and its columns");
}

void declare_warps(FragmentPage& page, GroupPrinter& groups) {
  Digits digits(page.lanes.warp, page.warps.warps);
  for (const auto& each : groups.enter(false)) {
    const bool of_warpgroup = page.warps.issuing_warps > 1 && each.group->size > accumulator_tile.rows;
    if (of_warpgroup) digits.next(each.most());
    of_warpgroup ? declare_rows_of_warpgroup(page, groups, each) : groups.print(each, digits);
  }
  for (auto& piece : page.own) set_position(piece);
  page.out.line();
}

}  // namespace napkin
