// Places the tiles of a kernel for single warps one after another in shared memory, with as many stages as fit.
#include "device/warps/shared_memory.hpp"

#include <fmt/format.h>

#include "timing/occupancy.hpp"

namespace napkin {
namespace {

constexpr std::int64_t wanted_stages = 2;

void set_stages(WarpNest& found, std::int64_t stages) {
  for (const auto* loop : found.pipelined)
    for (const auto id : found.tiles_loaded(loop->body)) found.tiles.at(id).copies = stages;
  found.shared_bytes = 0;
  for (const auto& [id, tile] : found.tiles) found.shared_bytes += bytes_of(tile, tile_line);
}

}  // namespace

// The tiles get the planned number of stages. A block that is alone on its SM gets at least two, because no other block
// computes while it waits for copies. If the tiles do not fit, stages are removed: down to one if the block is alone,
// otherwise down to two, or to the planned number if that is smaller. If the tiles still do not fit, those that no
// product reads are no longer staged.
void place_tiles(WarpNest& found, const Lowered& lowered) {
  found.pipelined = all_statements<For>(lowered.nest->body);
  std::erase_if(found.pipelined, [&](const For* loop) { return !loads_innermost(found, loop->body); });
  const auto room = block_room(lowered), planned = lowered.planned.stages;
  const bool alone = lowered.blocks == 1;
  const auto fewest = alone ? 1 : std::min(wanted_stages, planned);
  auto stages = alone ? std::max(wanted_stages, planned) : planned;
  set_stages(found, stages);
  while (found.shared_bytes > room && stages > fewest) set_stages(found, --stages);
  if (found.shared_bytes > room) {
    std::erase_if(found.tiles, [](const auto& each) { return !each.second.of_products; });
    set_stages(found, stages);
  }
  if (found.shared_bytes > room) throw too_large(lowered, found.shared_bytes, room);
  std::int64_t begin = 0;
  for (auto& [id, tile] : found.tiles) {
    tile.begin = begin;
    begin += bytes_of(tile, tile_line);
    if (tile.column) tile.together = tile_alignment(*lowered.nest, lowered.nest->at(id), *tile.column);
  }
}
bool loads_innermost(const WarpNest& found, const LoopBody& block) {
  const auto loads = [&](const For* loop) { return !found.tiles_loaded(loop->body).empty(); };
  return !found.tiles_loaded(block).empty() && std::ranges::none_of(all_statements<For>(block), loads);
}
std::int64_t bytes_of(const StagedTile& tile, std::int64_t alignment) {
  return round_up(tile.layout.size_bytes(), alignment) * tile.copies;
}
std::int64_t block_room(const Lowered& lowered) {
  const auto& level = lowered.hardware.levels[lowered.block_level];
  const auto& limits = lowered.hardware.limits;
  const auto room = static_cast<std::int64_t>(level.room());
  if (lowered.blocks == 1 || !level.capacity) return room;
  const auto unit = whole(limits.shared_allocation_unit, 1);
  const auto part = static_cast<std::int64_t>(level.capacity->value) / lowered.blocks / unit * unit;
  return std::min(room, part - whole(limits.reserved_shared_per_block, 0));
}
Infeasible too_large(const Lowered& lowered, std::int64_t bytes, std::int64_t room) {
  std::vector<WireId> streamed_first;
  for (const auto kind : {SplitKind::stream, SplitKind::group})
    for (const auto& split : lowered.kernel.partition.splits)
      if (split.kind == kind) streamed_first.push_back(split.wire);
  return {fmt::format("its tiles, padded to whole fragments, take {} B of {} B", bytes, room), streamed_first};
}

}  // namespace napkin
