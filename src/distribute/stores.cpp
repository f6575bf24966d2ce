// Outputs that leave through shared memory: each warpgroup writes its rows of a tile there, and boxes are copied from
// it into the array while the warpgroup goes on.
#include "distribute/distributing.hpp"

namespace napkin {
namespace {

constexpr std::int64_t least_copies_to_keep = 2;  // of a pipeline, for which outputs make no room

}  // namespace

void Distributing::find_stores() {
  for (const auto& [save, block] : saves_) {
    const auto& buffer = nest().at(save.from);
    if (buffer.level != leaf()) continue;
    if (diagram().at(buffer.array).part_of) {
      result_.no_stores = "they are parts of one array";
      continue;
    }
    if (!may_leave_in_boxes(save.from)) {
      result_.no_stores = "their tiles do not consist of whole fragments along memory";
      continue;
    }
    result_.stores[save.from] = tile_of_store(save.from);
  }
}
// Of each warpgroup's rows those of one instruction at a time. Where they run along memory the tile lies across.
StagedTile Distributing::tile_of_store(BufferId id) const {
  const auto& array = diagram().at(nest().at(id).array);
  const auto& grid = result_.arrays.at(id);
  const std::int64_t rows = result_.warps * row_tile, columns = grid.column_tiles * column_tile;
  const auto bytes = row(array.type).bytes;
  const bool across = array.wires.back() == rows_;
  StagedTile tile;
  tile.row = dimension_of(nest().at(id).array, across ? *grid.columns : rows_);
  tile.column = array.wires.size() - 1;
  tile.layout = across ? paneled_tile(columns, rows, bytes) : paneled_tile(rows, columns, bytes);
  return tile;
}
std::size_t Distributing::dimension_of(ArrayId array, WireId wire) const {
  const auto& wires = diagram().at(array).wires;
  return static_cast<std::size_t>(std::find(wires.begin(), wires.end(), wire) - wires.begin());
}
// Rows and columns of fragments, one of them along memory. Copies know the ends of arrays and not those of pieces,
// which fragments therefore fill. Panels across are no wider than a warpgroup's rows.
bool Distributing::may_leave_in_boxes(BufferId id) const {
  const auto& buffer = nest().at(id);
  const auto& grid = result_.arrays.at(id);
  const auto& array = diagram().at(buffer.array);
  if (grid.rows != rows_ || !grid.columns || array.wires.size() > most_tile_dimensions) return false;
  const bool across = array.wires.back() == rows_ && row(array.type).bytes > 1;
  if (!across && array.wires.back() != *grid.columns) return false;
  const auto extent = buffer.extent[dimension_of(buffer.array, *grid.columns)];
  return extent == grid.column_tiles * column_tile || !is_split(*grid.columns);
}

std::int64_t Distributing::store_bytes() const {
  std::int64_t all = 0;
  for (const auto& [id, tile] : result_.stores) all += round_up(tile.layout.size_bytes(), swizzle_pattern);
  return all;
}
// Where pipelines would be left with fewer copies than planned for it, outputs leave from registers.
void Distributing::drop_stores(std::int64_t room) {
  auto pipelines = result_.pipelines;
  const auto keep = std::max(least_copies_to_keep, result_.planned_stages);
  for (auto& pipeline : result_.pipelines) pipeline.copies = std::min(pipeline.copies, keep);
  if (!result_.stores.empty() && pipeline_bytes() > room) {
    result_.stores.clear();
    result_.no_stores = "shared memory has no space for them beside the stages of other tiles";
  }
  result_.pipelines = std::move(pipelines);
}

}  // namespace napkin
