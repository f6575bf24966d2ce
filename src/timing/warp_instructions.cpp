#include "timing/warp_instructions.hpp"

#include <algorithm>

#include "hardware/assumptions.hpp"
#include "loops/pieces.hpp"
#include "timing/occupancy.hpp"
#include "timing/raster.hpp"

namespace napkin {
namespace {

// Of kernels with two tiles to an iteration, docs/cuda.md fits 98 instructions and 4.5 for each copy of a lane to the
// machine code: those of an iteration, of a tile that it loads, and of each time that a lane copies bytes of it.
constexpr double of_iteration = 32, of_tile = 33;
struct Copying {
  std::int64_t bytes = 16;    // of a lane at a time
  double instructions = 4.5;  // asynchronous copies of 16, 8 or 4 bytes
  std::int64_t at_once = 0;   // of those through registers, for which a lane waits
};
constexpr Copying of_chunks{16, 42, 2};  // aligned to their numbers only
constexpr Copying of_packed{16, 90, 2};  // taken apart
constexpr double of_single_number = 25;  // along another dimension than the last
// Clocks from one instruction of a warp to the next, as ptxas schedules them there. Fourteen of them wait for special
// registers, constants or addresses as well, and one of each step of a product for its matrices. Each of these waits
// takes about the latency of shared memory.
constexpr double clocks_of_instruction = 2.3, waits_of_iteration = 4, waits_of_tile = 5;

double partitions_of(const Hardware& hardware) { return assumed(hardware.limits.register_partitions, 1); }
std::int64_t warps_of_block(const RowDivision& rows) { return std::max<std::int64_t>(1, rows.warps * rows.warpgroups); }

struct Instructions {
  double number = 0, waits = 0;  // of a warp
  double clocks = 0;             // for numbers that come through registers
};
Copying copying(const Mainloop& mainloop, BufferId id) {
  constexpr std::int64_t least_copy = 4;
  const auto& buffer = mainloop.nest->at(id);
  const auto& array = mainloop.diagram().at(buffer.array);
  if (array.packed) return of_packed;
  if (buffer.extent.size() > 1 && buffer.extent.back() == 1) return {row(buffer.type).bytes, of_single_number, 4};
  if (buffer.at.empty()) return {row(buffer.type).bytes, of_single_number, 4};  // a number without axes
  const auto aligned = tile_alignment(*mainloop.nest, buffer, buffer.at.size() - 1);
  return aligned < least_copy ? of_chunks : Copying{aligned};
}
Instructions of_tiles(const Mainloop& mainloop, const RowDivision& rows, double latency) {
  Instructions all{of_iteration, waits_of_iteration};
  for (const auto id : mainloop.streamed) {
    const auto each = copying(mainloop, id);
    const auto times = pieces_of(mainloop.bytes(id), lanes_of_warp * warps_of_block(rows) * each.bytes);
    all.number += of_tile + static_cast<double>(times) * each.instructions;
    all.waits += waits_of_tile;
    if (each.at_once > 0) all.clocks += static_cast<double>(pieces_of(times, each.at_once)) * latency;
  }
  return all;
}
double steps_of(const MainloopOperation& column) {
  return column.folded / std::max(1.0, column.kept) / static_cast<double>(column.contraction->instruction->k);
}
// The steps of all products of an iteration, each of which adds to the same sums.
double steps_of_products(const Mainloop& mainloop) {
  double steps = 0;
  for (const auto& column : mainloop.columns)
    if (column.contraction) steps += steps_of(column);
  return steps;
}
// The clocks in which a product's sums wait for each other, in addition to the time of the matrix units.
double between_products(const Mainloop& mainloop, const RowDivision& rows, const Hardware& hardware, double clock_hz) {
  const auto& rates = hardware.find(Unit::tensor)->rates;
  const double partitions = static_cast<double>(hardware.total(mainloop.core)) * partitions_of(hardware);
  double clocks = 0;
  for (const auto& column : mainloop.columns) {
    if (!column.contraction || !column.contraction->instruction->latency_clocks) continue;
    const auto& shape = *column.contraction->instruction;
    const double per_clock = rates.at(shape.operands).peak() / clock_hz / partitions;
    const double busy = 2 * column.folded / static_cast<double>(warps_of_block(rows)) / per_clock;
    clocks += std::max(0.0, steps_of(column) * shape.latency_clocks->value - busy);
  }
  return clocks;
}

}  // namespace

void count_warp_instructions(const OnCore& on, double clock_hz, IterationClocks& clocks) {
  const auto& [mainloop, rows, hardware, model] = on;
  if (!mainloop.loads_matrices || mainloop.issues_together()) return;
  const auto& levels = hardware.levels;
  const auto latency = [&](std::size_t level) {
    return level < levels.size() && levels[level].latency_clocks ? levels[level].latency_clocks->value : 0;
  };
  const auto* cache = cache_of(mainloop, hardware);
  const auto near = cache && cache->latency_clocks ? cache->latency_clocks->value : latency(mainloop.core);
  const auto tiles = of_tiles(mainloop, rows, near);
  const double chained = tiles.number * clocks_of_instruction +
                         (tiles.waits + steps_of_products(mainloop)) * latency(mainloop.core + 1) + tiles.clocks +
                         between_products(mainloop, rows, hardware, clock_hz);
  clocks.instructions = chained / clock_hz;
  clocks.issue = tiles.number * static_cast<double>(warps_of_block(rows)) / partitions_of(hardware) / clock_hz;
}

double waits_for_instructions(const OnCore& on, const Pipelining& made, std::int64_t blocks,
                              const IterationClocks& clocks) {
  if (clocks.instructions == 0) return 0;
  const auto& [mainloop, rows, hardware, model] = on;
  const auto& latency = hardware.levels[mainloop.core].latency_clocks;
  const auto partitions = whole(hardware.limits.register_partitions, 1), warps = warps_of_block(rows);
  const double alone = static_cast<double>(round_up(warps, partitions)) / static_cast<double>(warps);
  double chained = clocks.instructions + alone * clocks.alone();
  if (made.stages == 1 && latency)
    chained += clocks.copy + latency->value / hardware.find(Unit::tensor)->clock_hz->value;
  return std::max(clocks.issue, chained / static_cast<double>(std::max<std::int64_t>(1, blocks)));
}

}  // namespace napkin
