// Folds on fragments: first over a lane's own values, then between the lanes that share a row or a column. Folds along
// a wire that fragments have no dimension for run position by position, and lanes shuffle the values they hold.
#include "emit/cuda/warps/columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/contains.hpp"

namespace napkin {
namespace {

// Which directions of fragments a column folds.
struct FoldedSides {
  bool rows, columns;
};

// Absorbs a lane's own values. Positions past the end do not count.
void absorb_own(FragmentStatements& statements, const Compute& compute, const std::string& partial, FoldedSides folded,
                OpenFragments here) {
  auto& page = statements.page();
  const auto& grid = page.warps.columns.at(&compute);
  int opened = 0;
  if (folded.rows) opened += open_rows(page, grid, here);
  if (folded.columns) opened += open_columns(page, grid, here);
  if (here.value.empty()) here.value = "0";
  std::vector<std::string> within;
  for (const auto wire : compute.column.over)
    if (here.unclamped.contains(wire) && page.clear != wire)
      within.push_back(fmt::format("{} < {}", here.unclamped.at(wire), page.own[wire.index].end));
  if (!within.empty()) page.out.open("if ({})", joined(within, " && ")), ++opened;
  statements.absorb(compute, partial, here);
  page.out.close(opened);
}

// Joins partial results between lanes: the columns of a row lie in the lanes of a group, and rows in different groups.
void exchange(FragmentStatements& statements, const Compute& compute, const std::string& partial, FoldedSides folded) {
  const auto first = folded.columns ? 1 : accumulator_tile.quads(),
             end = folded.rows ? lanes_of_warp : accumulator_tile.quads();
  for (auto mask = first; mask < end; mask *= 2)
    statements.join(compute, partial, fmt::format("__shfl_xor_sync(0xffffffffu, {}, {})", partial, mask));
}

void fold_together(FragmentStatements& statements, const Compute& compute) {
  auto& page = statements.page();
  const auto& grid = page.warps.columns.at(&compute);
  const auto folds = [&](std::optional<WireId> wire) { return wire && contains(compute.column.over, *wire); };
  const FoldedSides folded{folds(grid.rows), folds(grid.columns)};
  OpenFragments here;
  int opened = 0;
  if (!folded.rows && !folded.columns) {
    opened = open_cells(page, grid, here);
  } else {
    if (!folded.rows) opened += open_rows(page, grid, here);
    if (!folded.columns) opened += open_columns(page, grid, here);
  }
  const auto partial = statements.begin_part(compute);
  absorb_own(statements, compute, partial, folded, here);
  exchange(statements, compute, partial, folded);
  statements.finish(compute, partial, here);
  page.out.close(opened);
}

// Opens a loop over the positions of a wire. It must be unrolled only if it reads values that lanes hold. Returns its
// counter.
std::string open_turns(FragmentPage& page, const Compute& compute, WireId wire, OpenFragments& here) {
  const auto& piece = page.own[wire.index];
  const auto turn = page.pool.fresh("turn");
  const bool from_tiles = std::ranges::all_of(
      compute.reads, [&](const auto& read) { return page.is_input(page.nest.at(read.second).array); });
  page.loop(turn, piece.extent, !from_tiles);
  place(page, wire, turn, here);
  page.out.open("if ({} < {})", here.unclamped.at(wire), piece.end);
  return turn;
}

// Shuffles a value from the lane of the row that holds it.
std::string shuffle(FragmentStatements& statements, BufferId id, const std::string& turn, const OpenFragments& here) {
  constexpr auto tile = accumulator_tile;
  auto& page = statements.page();
  auto there = here;
  there.column = fmt::format("{} / {}", turn, tile.columns);
  there.pair = fmt::format("{} % {}", turn, tile.lane_columns);
  there.value = value_index(here.half, there.pair);
  auto name = page.pool.fresh(page.buffer(id) + "_at");
  page.out.line("const {} {} = __shfl_sync(0xffffffffu, {}, {} - {} + {} % {} / {});",
                page.warps.is_integer(id) ? "int" : "float", name, statements.slot(id, there), page.lanes.lane,
                page.lanes.quad, turn, tile.columns, tile.lane_columns);
  return name;
}
// Shuffles the values at position `turn` of a wire that runs along the columns of what the column reads.
void shuffle_all(FragmentStatements& statements, const Compute& compute, WireId wire, const std::string& turn,
                 OpenFragments& here) {
  const auto& arrays = statements.page().warps.arrays;
  for (const auto& [access, id] : compute.reads)
    if (arrays.contains(id) && arrays.at(id).columns == wire && !here.shuffled.contains(id))
      here.shuffled[id] = shuffle(statements, id, turn, here);
}

// Folds one position after another of a wire that fragments have no dimension for, for all cells at each position. So
// addresses and shuffled values are needed only at one position.
void fold_in_turns(FragmentStatements& statements, const Compute& compute, WireId wire) {
  auto& page = statements.page();
  const auto& grid = page.warps.columns.at(&compute);
  statements.begin(compute);
  OpenFragments here;
  const auto turn = open_turns(page, compute, wire, here);
  int opened = 2;
  opened += open_rows(page, grid, here);
  shuffle_all(statements, compute, wire, turn, here);
  opened += open_columns(page, grid, here);
  statements.absorb(compute, statements.slot(compute.to, here), here);
  page.out.close(opened);
  statements.round(compute);
}

void fold(FragmentStatements& statements, const Compute& compute) {
  const auto& shuffled = statements.page().warps.shuffled;
  const auto found = shuffled.find(&compute);
  found == shuffled.end() ? fold_together(statements, compute) : fold_in_turns(statements, compute, found->second);
}

}  // namespace

void print_column(FragmentStatements& statements, const Compute& compute,
                  const std::function<void(const Product&)>& multiply) {
  auto& page = statements.page();
  const auto from = page.from(compute);
  if (page.warps.inlined.contains(compute.to)) return;
  page.out.line("// {}", to_text(page.diagram, compute.column));
  if (const auto* product = page.warps.product(&compute))
    multiply(*product);
  else if (compute.column.fold)
    fold(statements, compute);
  else
    statements.pointwise(compute);
}

}  // namespace napkin
