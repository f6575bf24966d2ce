// Which wires run along rows and columns of fragments, for every column and every array that it computes.
#include <fmt/format.h>

#include "distribute/distributing.hpp"
#include "loops/passing.hpp"
#include "timing/mainloop.hpp"

namespace napkin {

// Grids

void Distributing::find_grids() {
  for (const auto& [compute, block, extents] : computes_) {
    const auto grid = result_.columns[compute] = grid_of(*compute, extents);
    auto out = grid;
    for (const auto wire : compute->column.over) {
      if (out.rows == wire) out.rows.reset(), out.row_tiles = 1;
      if (out.columns == wire) out.columns.reset(), out.column_tiles = 1;
    }
    drop_missing(out, compute->column.output);
    check_extent(compute->to, extents);
    const auto [at, fresh] = result_.arrays.try_emplace(compute->to, out);
    if (!fresh && at->second != out)
      throw Infeasible{fmt::format("two products need `{}` in different fragment layouts", name(compute->to))};
  }
  for (const auto& place : computes_) check_reads(*place.compute, place.extents);
}
// Registers are not counted through: what lives outside of a loop is no longer than a piece of it.
void Distributing::check_extent(BufferId id, const Extents& extents) const {
  const auto& buffer = nest().at(id);
  const auto& wires = diagram().at(buffer.array).wires;
  for (std::size_t k = 0; k < wires.size(); ++k)
    if (buffer.extent[k] > extents[wires[k].index])
      throw Infeasible{fmt::format("`{}` is held across the iterations of a stream of {}", name(id), name(wires[k])),
                       {},
                       {wires[k]}};
}
void Distributing::drop_missing(Grid& grid, ArrayId array) const {
  const auto& wires = diagram().at(array).wires;
  if (grid.rows && !contains(wires, *grid.rows)) grid.rows.reset(), grid.row_tiles = 1;
  if (grid.columns && !contains(wires, *grid.columns)) grid.columns.reset(), grid.column_tiles = 1;
}
// Of two wires the only one that is folded, one position after another, while the other runs along columns.
std::optional<WireId> Distributing::shuffled_along(const Compute& compute, const std::vector<WireId>& wires,
                                                   const Extents& extents) const {
  const auto& over = compute.column.over;
  const bool first = contains(over, wires[0]), second = contains(over, wires[1]);
  if (first == second || contains(over, rows_)) return {};
  const auto wire = wires[first ? 0 : 1];
  return extents[wire.index] <= longest_shuffled ? std::optional(wire) : std::nullopt;
}
Grid Distributing::grid_of(const Compute& compute, const Extents& extents) {
  const bool summed = result_.product(&compute);
  std::vector<WireId> wires;
  for (const auto wire : diagram().at(compute.column.output).wires) add(wires, wire, extents);
  if (!summed)
    for (const auto wire : compute.column.over) add(wires, wire, extents);
  if (!summed)
    for (const auto wire : free_wires(diagram(), compute.column.value)) add(wires, wire, extents);
  Grid grid;
  const auto is_rows = std::find(wires.begin(), wires.end(), rows_);
  if (is_rows != wires.end()) {
    grid.rows = rows_;
    wires.erase(is_rows);
  } else if (const auto along = multiplied_along(wires)) {
    grid.rows = wires[wires[0] == *along ? 1 : 0];
    wires = {*along};
  } else if (wires.size() == 2 && contains(compute.column.over, wires[1])) {
    grid.rows = wires[1];
    wires.pop_back();
  }
  if (grid.rows && wires.size() == 2)
    if (const auto one = shuffled_along(compute, wires, extents)) {
      result_.shuffled[&compute] = *one;
      std::erase(wires, *one);
    }
  if (wires.size() > 1)
    throw Infeasible{fmt::format("`{}` has the axes {} and {} beside the rows {}", name(compute.to), name(wires[0]),
                                 name(wires[1]), name(rows_))};
  if (!wires.empty()) grid.columns = wires[0];
  if (grid.rows) grid.row_tiles = pieces_of(extents[grid.rows->index], row_tile);
  if (grid.columns) grid.column_tiles = round_up(extents[grid.columns->index], column_pair) / column_tile;
  return grid;
}
// Of two wires, neither of them the rows, the one along which a product sums what has them: it runs along columns.
std::optional<WireId> Distributing::multiplied_along(const std::vector<WireId>& wires) const {
  if (wires.size() != 2) return std::nullopt;
  for (const auto& product : result_.products)
    for (const auto& side : {product.rows, product.columns}) {
      const auto of_side = [&](WireId wire) { return has_wire(side, wire); };
      if (!is_input(side.buffer) && !of_side(rows_) && std::all_of(wires.begin(), wires.end(), of_side))
        return contains(wires, product.over) ? std::optional(product.over) : std::nullopt;
    }
  return std::nullopt;
}
void Distributing::add(std::vector<WireId>& wires, WireId wire, const Extents& extents) {
  if (extents[wire.index] > 1 && !contains(wires, wire)) wires.push_back(wire);
}
// What a column reads of the warp's own lies as the column runs.
void Distributing::check_reads(const Compute& compute, const Extents& extents) const {
  for (const auto& [access_id, buffer] : compute.reads) {
    if (is_input(buffer)) continue;
    const auto& grid = result_.arrays.at(buffer);
    const auto& wires = diagram().at(nest().at(buffer).array).wires;
    const auto& at = access(diagram(), access_id).at;
    for (std::size_t k = 0; k < wires.size(); ++k)
      if (extents[wires[k].index] > 1 && plain_wire(at[k]) != wires[k])
        throw Infeasible{fmt::format("`{}` reads `{}` at another position", name(compute.to), name(buffer))};
    if (result_.product(&compute)) continue;
    auto own = result_.columns.at(&compute);
    if (const auto one = result_.shuffled.find(&compute); one != result_.shuffled.end() && grid.columns == one->second)
      own.columns = grid.columns, own.column_tiles = grid.column_tiles;
    if ((grid.rows && grid.rows != own.rows) || (grid.columns && grid.columns != own.columns) ||
        (grid.rows && grid.row_tiles != own.row_tiles) || (grid.columns && grid.column_tiles != own.column_tiles))
      throw Infeasible{
          fmt::format("`{}` has another fragment layout than `{}`, which reads it", name(buffer), name(compute.to))};
  }
}

void Distributing::find_inlined() {
  result_.inlined = passing(nest(), [&](const Compute* compute) { return result_.product(compute) != nullptr; });
}
bool Distributing::reads(const Compute& compute, BufferId buffer) {
  return compute.carried == buffer || std::any_of(compute.reads.begin(), compute.reads.end(),
                                                  [&](const auto& read) { return read.second == buffer; });
}
}  // namespace napkin
