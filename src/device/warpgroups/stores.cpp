// Finds the outputs that TMA stores in boxes: those whose fragments fill the boxes.
#include "device/warpgroups/stores.hpp"

namespace napkin {
namespace {

std::size_t dimension_of(const Array& array, WireId wire) {
  return static_cast<std::size_t>(std::ranges::find(array.wires, wire) - array.wires.begin());
}
// True if the output has rows and columns of fragments, and one of them runs along memory. TMA stops at the ends of
// arrays, but not at the ends of pieces, so that fragments must fill the pieces of columns.
bool may_leave_in_boxes(const Lowered& lowered, const Buffer& buffer, const Grid& grid, WireId rows) {
  const auto& array = lowered.diagram().at(buffer.array);
  if (grid.rows != rows || !grid.columns || array.wires.size() > most_tile_dimensions) return false;
  const bool across = array.wires.back() == rows && row(array.type).bytes > 1;
  if (!across && array.wires.back() != *grid.columns) return false;
  const auto extent = buffer.extent[dimension_of(array, *grid.columns)];
  return extent == grid.column_tiles * column_tile || !lowered.is_split(*grid.columns);
}
// The tile holds the rows of one instruction of each warpgroup at a time. If rows run along memory, they are the
// columns of the tile.
StagedTile tile_of_store(const Lowered& lowered, const Array& array, const Grid& grid, WireId rows_wire) {
  const std::int64_t rows = lowered.warps * row_tile, columns = grid.column_tiles * column_tile;
  const auto bytes = row(array.type).bytes;
  const bool across = array.wires.back() == rows_wire;
  StagedTile tile;
  tile.row = dimension_of(array, across ? *grid.columns : rows_wire);
  tile.column = array.wires.size() - 1;
  tile.layout = across ? paneled_tile(columns, rows, bytes) : paneled_tile(rows, columns, bytes);
  return tile;
}

}  // namespace

void find_stores(WarpNest& found, const Lowered& lowered, WireId rows) {
  for (const auto* save : lowered.saves) {
    const auto id = save->from;
    const auto& buffer = lowered.nest->at(id);
    const auto& array = lowered.diagram().at(buffer.array);
    if (buffer.level != lowered.leaf()) continue;
    if (array.part_of)
      found.no_stores = "they are parts of one array";
    else if (!may_leave_in_boxes(lowered, buffer, found.arrays.at(id), rows))
      found.no_stores = "their tiles do not consist of whole fragments along memory";
    else
      found.stores[id] = tile_of_store(lowered, array, found.arrays.at(id), rows);
  }
}

}  // namespace napkin
