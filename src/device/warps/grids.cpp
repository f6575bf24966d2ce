// Finds the grid of fragments of every column of a nest, and of the array that the column computes.
#include "device/warps/grids.hpp"

#include <fmt/format.h>

#include "device/warps/products.hpp"
#include "loops/extents.hpp"
#include "timing/mainloop/excess.hpp"

namespace napkin {
namespace {

// Returns the wires longer than 1 that a column runs over. A product sums within its instruction, so that only the
// wires of its result count.
std::vector<WireId> wires_of(const Lowered& lowered, const Placed<Compute>& placed, bool is_product) {
  const auto& column = placed.step->column;
  auto wires = long_wires(lowered.diagram(), column, free_wires(lowered.diagram(), column.value), placed.extents);
  const auto& kept = lowered.diagram().at(column.output).wires;
  if (is_product) std::erase_if(wires, [&](WireId wire) { return !contains(kept, wire); });
  return wires;
}
// A product may read a computed operand that lacks the row wire. If the operand has two wires and the product sums one
// of them, that wire runs along the columns of the fragments in which the operand is computed.
std::optional<WireId> multiplied_along(const WarpNest& found, const Lowered& lowered, const std::vector<WireId>& wires,
                                       WireId rows) {
  if (wires.size() != 2) return std::nullopt;
  for (const auto& product : found.products)
    for (const auto& side : {product.rows, product.columns}) {
      const auto of_side = [&](WireId wire) { return has_wire(lowered.diagram(), side, wire); };
      if (!lowered.nest->is_input(side.buffer) && !of_side(rows) && std::ranges::all_of(wires, of_side))
        return contains(wires, product.over) ? std::optional(product.over) : std::nullopt;
    }
  return std::nullopt;
}
// Removes the wire along rows from the wires and returns it. The remaining wires are left to the columns.
std::optional<WireId> take_rows(const WarpNest& found, const Lowered& lowered, const Compute& compute,
                                std::vector<WireId>& wires, WireId rows) {
  std::optional<WireId> taken;
  if (contains(wires, rows)) {
    taken = rows;
  } else if (const auto along = multiplied_along(found, lowered, wires, rows)) {
    taken = wires[wires[0] == *along ? 1 : 0];
  } else if (wires.size() == 2 && contains(compute.column.over, wires[1])) {
    taken = wires[1];
  }
  if (taken) std::erase(wires, *taken);
  return taken;
}
void add_column(WarpNest& found, const Lowered& lowered, WireId rows, const Placed<Compute>& placed) {
  const auto& [compute, block, extents] = placed;
  auto wires = wires_of(lowered, placed, found.product(compute) != nullptr);
  auto& grid = found.columns[compute];
  grid.rows = take_rows(found, lowered, *compute, wires, rows);
  if (grid.rows && wires.size() == 2)
    if (const auto one = shuffled_wire(compute->column, wires, rows, extents)) {
      found.shuffled[compute] = *one;
      std::erase(wires, *one);
    }
  if (wires.size() > 1)
    throw infeasible("`{}` has the axes {} and {} beside the rows {}", lowered.name(compute->to),
                     lowered.name(wires[0]), lowered.name(wires[1]), lowered.name(rows));
  if (!wires.empty()) grid.columns = wires[0];
  if (grid.rows) grid.row_tiles = pieces_of(extents[grid.rows->index], row_tile);
  if (grid.columns) grid.column_tiles = round_up(extents[grid.columns->index], column_pair) / column_tile;
}
// Returns the grid of a column's result, which has no rows or columns along a folded wire.
Grid grid_of_result(const Diagram& diagram, const Column& column, Grid grid) {
  const auto lacks = [&](WireId wire) {
    return contains(column.over, wire) || !contains(diagram.at(column.output).wires, wire);
  };
  if (grid.rows && lacks(*grid.rows)) grid.rows.reset(), grid.row_tiles = 1;
  if (grid.columns && lacks(*grid.columns)) grid.columns.reset(), grid.column_tiles = 1;
  return grid;
}
// Emitted code cannot index registers by the iteration of a loop. So a buffer that outlives a loop must not be longer
// than the piece inside the loop.
void check_extent(const Lowered& lowered, BufferId id, const Extents& extents) {
  if (const auto wire = held_across(*lowered.nest, id, extents))
    throw Infeasible{.reason = fmt::format("`{}` is held across the iterations of a stream of {}", lowered.name(id),
                                           lowered.name(*wire)),
                     .unstreamed = {*wire}};
}
// Checks that the computed arrays that a column reads lie in the same fragments as the column.
void check_reads(const WarpNest& found, const Lowered& lowered, const Placed<Compute>& placed) {
  for (const auto& [access_id, buffer] : placed.step->reads) {
    if (lowered.nest->is_input(buffer)) continue;
    check_position(*lowered.nest, *placed.step, access(lowered.diagram(), access_id), placed.extents);
    if (found.product(placed.step)) continue;
    const auto& grid = found.arrays.at(buffer);
    auto own = found.columns.at(placed.step);
    if (const auto one = found.shuffled.find(placed.step); one != found.shuffled.end() && grid.columns == one->second)
      own.columns = grid.columns, own.column_tiles = grid.column_tiles;
    if ((grid.rows && grid.rows != own.rows) || (grid.columns && grid.columns != own.columns) ||
        (grid.rows && grid.row_tiles != own.row_tiles) || (grid.columns && grid.column_tiles != own.column_tiles))
      throw infeasible("`{}` has another fragment layout than `{}`, which reads it", lowered.name(buffer),
                       lowered.name(placed.step->to));
  }
}

}  // namespace

void find_grids(WarpNest& found, const Lowered& lowered, WireId rows) {
  for (const auto& placed : lowered.computes) {
    const auto& compute = *placed.step;
    add_column(found, lowered, rows, placed);
    const auto result = grid_of_result(lowered.diagram(), compute.column, found.columns.at(&compute));
    check_extent(lowered, compute.to, placed.extents);
    const auto [at, fresh] = found.arrays.try_emplace(compute.to, result);
    if (!fresh && at->second != result)
      throw infeasible("two products need `{}` in different fragment layouts", lowered.name(compute.to));
  }
  for (const auto& placed : lowered.computes) check_reads(found, lowered, placed);
}

}  // namespace napkin
