// Folds on fragments: first over a lane's own values, then between the lanes that share a row or a column. Folds along
// a wire that fragments have no dimension for run position by position, and lanes shuffle the values they hold.
#include <fmt/format.h>

#include <algorithm>

#include "diagram/contains.hpp"
#include "emit/cuda/warps/fragments.hpp"
#include "emit/shared/types.hpp"

namespace napkin {
void FragmentPrinter::fold(const Compute& compute) {
  if (const auto found = warps_.shuffled.find(&compute); found != warps_.shuffled.end())
    return fold_in_turns(compute, found->second);
  const auto& grid = warps_.columns.at(&compute);
  const auto folds = [&](std::optional<WireId> wire) { return wire && contains(compute.column.over, *wire); };
  const bool rows = folds(grid.rows), columns = folds(grid.columns);
  Here here;
  int opened = 0;
  if (!rows && !columns) {
    opened = open_cells(grid, here);
  } else {
    if (!rows) opened += open_rows(grid, here);
    if (!columns) opened += open_columns(grid, here);
  }
  const auto partial = begin_part(compute);
  {
    Here inside = here;
    int more = 0;
    std::string within;
    if (rows) more += open_rows(grid, inside);
    if (columns) more += open_columns(grid, inside);
    if (inside.value.empty()) inside.value = "0";
    for (const auto wire : compute.column.over)
      if (inside.unclamped.contains(wire) && clear_ != wire)
        within += fmt::format("{}{} < {}", within.empty() ? "" : " && ", inside.unclamped.at(wire),
                              page_.own[wire.index].end);
    if (!within.empty()) out_.open(fmt::format("if ({})", within)), ++more;
    absorb(compute, partial, inside);
    out_.close(more);
  }
  exchange(compute, partial, rows, columns);
  finish(compute, partial, here);
  out_.close(opened);
}

// Folds one position after another of a wire that fragments have no dimension for, for all cells at each position. So
// addresses and shuffled values are needed only at one position.
void FragmentPrinter::fold_in_turns(const Compute& compute, WireId wire) {
  const auto& grid = warps_.columns.at(&compute);
  begin(compute);
  Here here;
  int opened = open_turns(compute, wire, here);
  opened += open_rows(grid, here);
  hand_around(compute, here);
  opened += open_columns(grid, here);
  absorb(compute, slot(compute.to, here), here);
  out_.close(opened);
  round(compute);
}
// The loop must be unrolled only if it reads values that lanes hold.
int FragmentPrinter::open_turns(const Compute& compute, WireId wire, Here& here) {
  const auto& piece = page_.own[wire.index];
  here.shuffled = wire, here.turn = page_.pool.fresh("turn");
  const bool from_tiles = std::ranges::all_of(
      compute.reads, [&](const auto& read) { return page_.is_input(page_.nest.at(read.second).array); });
  loop(here.turn, piece.extent, !from_tiles);
  place(wire, here.turn, here);
  out_.open(fmt::format("if ({} < {})", here.unclamped.at(wire), piece.end));
  return 2;
}
bool FragmentPrinter::is_handed(BufferId id, const Here& here) const {
  return here.shuffled && warps_.arrays.contains(id) && warps_.arrays.at(id).columns == here.shuffled;
}
// Shuffles values from the lane of the row that holds the current column.
void FragmentPrinter::hand_around(const Compute& compute, Here& here) {
  constexpr auto tile = accumulator_tile;
  for (const auto& [access, id] : compute.reads) {
    if (!is_handed(id, here) || here.turn_values.contains(id)) continue;
    auto there = here;
    there.column = fmt::format("{} / {}", here.turn, tile.columns);
    there.pair = fmt::format("{} % {}", here.turn, tile.lane_columns);
    there.value = value_of(here.half, there.pair);
    const auto& name = here.turn_values[id] = page_.pool.fresh(page_.buffer(id) + "_at");
    out_.line(fmt::format("const {} {} = __shfl_sync(0xffffffffu, {}, {} - {} + {} % {} / {});",
                          warps_.is_integer(id) ? "int" : "float", name, slot(id, there), lanes.lane, lanes.quad,
                          here.turn, tile.columns, tile.lane_columns));
  }
}

// Joins partial results between lanes: the columns of a row lie in the lanes of a group, and rows in different groups.
void FragmentPrinter::exchange(const Compute& compute, const std::string& partial, bool rows, bool columns) {
  const auto first = columns ? 1 : accumulator_tile.quads(), end = rows ? lanes_of_warp : accumulator_tile.quads();
  for (auto mask = first; mask < end; mask *= 2)
    join(compute, partial, fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})", partial, mask));
}

}  // namespace napkin
