// Declares registers and pointers into shared memory, and computes places in tiles.
#include "emit/cuda/warps/buffers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit/shared/types.hpp"
#include "loops/walk.hpp"

namespace napkin {
namespace {

// The type in which lanes hold a computed array.
std::string type_in_lanes(const FragmentPage& page, BufferId id) {
  return std::string(page.warps.is_integer(id) ? "int" : page.type(id).own);
}

// "S[2][8][4]", the registers of a computed array.
std::string registers_of(const FragmentPage& page, BufferId id) {
  const auto& grid = page.warps.arrays.at(id);
  auto text = page.buffer(id);
  if (grid.rows) text += fmt::format("[{}]", grid.row_tiles);
  if (grid.columns) text += fmt::format("[{}]", grid.column_tiles);
  const auto values = (grid.rows ? accumulator_tile.lane_rows : 1) * (grid.columns ? accumulator_tile.lane_columns : 1);
  return values > 1 ? fmt::format("{}[{}]", text, values) : text;
}

// Whether a mask test reads the tile.
bool is_asked(const LoopNest& nest, BufferId id) {
  return std::ranges::any_of(all_statements<MaskTest>(nest.body), [&](const MaskTest* ask) { return ask->tile == id; });
}

}  // namespace

void declare_shared_tiles(FragmentPage& page) {
  page.declare_shared();
  for (const auto& [id, tile] : page.warps.tiles)
    page.declare_in_shared(page.storage(page.nest.at(id).array), page.buffer(id), tile.begin,
                           fmt::format("{}[{}][{}]", tile.copies > 1 ? fmt::format("[{}]", tile.copies) : "",
                                       tile.layout.rows, tile.layout.columns));
}

void declare_buffers(FragmentPage& page, const LoopBody& block) {
  for (const auto id : block.buffers)
    if (const auto tile = page.warps.tiles.find(id); tile != page.warps.tiles.end() && tile->second.copies == 1)
      declare_pointer(page, id, page.buffer(id));
  page.declare_buffers(
      block, [&](BufferId id) { return type_in_lanes(page, id); },
      [&](BufferId id) { return page.is_held(id) ? registers_of(page, id) : ""; });
}

void read_single(FragmentPage& page, const Load& load) {
  const auto& buffer = page.nest.at(load.to);
  if (buffer.level != page.kernel.block_level || page.warps.tiles.contains(load.to) ||
      page.warps.scheduler.cluster > 1 || !page.is_single(load.to) || is_asked(page.nest, load.to))
    return;
  const auto& name = page.single[load.to] = page.pool.fresh(page.buffer(load.to) + "_one");
  page.out.line("[[maybe_unused]] const {} {} = {};", page.storage(buffer.array), name,
                read_once(page, buffer.array, corners(buffer.at, page.shared)));
}
std::string read_once(const Page& page, ArrayId id, const std::vector<std::string>& at) {
  return fmt::format("napkin_read_once<{}>({})", page.kernel.threads, page.address(id, at));
}

std::vector<BufferId> tiles_read(const Page& page, const Compute& compute) {
  std::vector<BufferId> all;
  for (const auto& [access, id] : compute.reads)
    if (page.is_input(page.nest.at(id).array)) all.push_back(page.staged(id));
  return all;
}
std::string tile_pointer(const Page& page, BufferId id) { return page.buffer(id) + "_tile"; }
void declare_pointer(FragmentPage& page, BufferId id, const std::string& place) {
  page.out.line("const {}* const {} = {};", page.storage(page.nest.at(id).array), tile_pointer(page, id), place);
}
std::string stage_address(const FragmentPage& page, BufferId id, const std::string& number) {
  const auto alignment = page.warps.issuing_warps > 1 ? swizzle_pattern : tile_line;
  const auto& layout = page.warps.tiles.at(id).layout;
  const auto step = round_up(layout.size_bytes(), alignment) / layout.bytes;
  return fmt::format("{} + {} * {}", page.buffer(id), number, step);
}

void declare_stages(FragmentPage& page, const std::vector<BufferId>& tiles, const std::string& number) {
  for (const auto id : tiles) declare_pointer(page, id, stage_address(page, id, number));
}

std::string tile_place(const SharedTile& tile, const std::string& row, const std::string& column) {
  if (tile.panel != tile.columns)
    return fmt::format("napkin_panel_place<{}, {}, {}, {}>({}, {})", tile.rows, tile.panel, tile.bytes, tile.bits, row,
                       column);
  return fmt::format("napkin_place<{}, {}, {}>({}, {})", tile.columns, tile.bytes, tile.bits, row, column);
}

}  // namespace napkin
