// Outputs that leave through shared memory: each team writes its rows of a tile there, and boxes are copied from it
// into the array while the team goes on.
#include "distribute/distributing.hpp"

namespace napkin {
namespace {

constexpr std::size_t most_dimensions = 5;
constexpr std::int64_t least_copies_to_keep = 2;  // of a ring, for which outputs make no room

}  // namespace

void Distributing::find_stores() {
  for (const auto& [save, block] : saves_) {
    const auto& buffer = nest().at(save.from);
    if (buffer.level != leaf()) continue;
    if (!may_leave_in_boxes(save.from)) {
      result_.no_stores = "pieces of theirs do not lie along memory in whole fragments";
      continue;
    }
    StagedTile tile;
    tile.row = dimension_of(buffer.array, rows_);
    tile.column = buffer.at.size() - 1;
    tile.layout = paneled_tile(result_.warps * row_tile, result_.arrays.at(save.from).column_tiles * column_tile,
                               row(diagram().at(buffer.array).type).bytes);
    result_.stores[save.from] = tile;
  }
}
std::size_t Distributing::dimension_of(ArrayId array, WireId wire) const {
  const auto& wires = diagram().at(array).wires;
  return static_cast<std::size_t>(std::find(wires.begin(), wires.end(), wire) - wires.begin());
}
// Rows and columns of fragments, along memory. Copies know the ends of arrays and not those of pieces, which fragments
// therefore fill.
bool Distributing::may_leave_in_boxes(BufferId id) const {
  const auto& buffer = nest().at(id);
  const auto& grid = result_.arrays.at(id);
  const auto& wires = diagram().at(buffer.array).wires;
  if (grid.rows != rows_ || !grid.columns || wires.back() != *grid.columns || wires.size() > most_dimensions)
    return false;
  return buffer.extent.back() == grid.column_tiles * column_tile || !is_split(*grid.columns);
}

std::int64_t Distributing::store_bytes() const {
  std::int64_t all = 0;
  for (const auto& [id, tile] : result_.stores) all += up(tile.layout.size_bytes(), swizzle_pattern);
  return all;
}
// Where rings would be left with fewer copies than planned for it, outputs leave from registers.
void Distributing::drop_stores(std::int64_t room) {
  auto rings = result_.rings;
  const auto keep = std::max(least_copies_to_keep, result_.planned_stages);
  for (auto& ring : result_.rings) ring.copies = std::min(ring.copies, keep);
  if (!result_.stores.empty() && ring_bytes() > room) {
    result_.stores.clear();
    result_.no_stores = "there is no room for them beside copies of other tiles";
  }
  result_.rings = std::move(rings);
}

}  // namespace napkin
