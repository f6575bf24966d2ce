// Every lane loops over its own values of fragments.
#include "emit/cuda/warps/fragments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "loops/walk.hpp"

namespace napkin {
namespace {

// Tiles and fragments have the planned extent of a wire that nothing splits, so the wire must not be longer.
void limit_undivided(FragmentPage& page) {
  std::set<WireId> cut;
  for (const auto& group : page.nest.groups) cut.insert(group.wire);
  for (const auto* loop : all_statements<For>(page.body())) cut.insert(loop->split.wire);
  for (const auto& buffer : page.nest.buffers)
    for (const auto& index : buffer.at)
      for (const auto& term : index.terms)
        if (!cut.contains(term.first)) page.limit(term.first);
}

// The distance from a fragment's rows to the next one's: an instruction of a warpgroup has the rows of all its warps
// one after another.
std::int64_t row_step(const FragmentPage& page, WireId rows) {
  const bool divided = std::ranges::any_of(page.nest.groups, [&](const Split& group) {
    return group.wire == rows && group.level > page.kernel.block_level;
  });
  return accumulator_tile.rows * (divided ? page.warps.issuing_warps : 1);
}

void place_row(FragmentPage& page, const Grid& grid, OpenFragments& here) {
  const auto eight = row_offset(page, *grid.rows, here);
  place(page, *grid.rows, eight + " + " + page.lanes.group, here, eight);
}
void place_column(FragmentPage& page, const Grid& grid, OpenFragments& here) {
  const auto eight = fmt::format("{} * {}", here.column, accumulator_tile.columns);
  place(page, *grid.columns, column_offset(page, eight, here.pair), here, eight);
}

}  // namespace

LaneNames::LaneNames(Identifiers& pool)
    : warp(pool.fresh("warp")),
      lane(pool.fresh("lane")),
      group(pool.fresh("group")),
      quad(pool.fresh("quad")),
      row(pool.fresh("i")),
      column(pool.fresh("j")),
      half(pool.fresh("h")),
      pair(pool.fresh("p")),
      value(pool.fresh("e")),
      step(pool.fresh("k")) {}

FragmentPage::FragmentPage(const ThreadedKernel& threaded, const WarpNest& distributed, const CodeNames& known)
    : Page(threaded, known), warps(distributed), lanes(pool) {
  limit_undivided(*this);
  for (const auto& [id, tile] : warps.stores) {
    const auto& name = array(nest.at(id).array);
    stores[id] = {pool.fresh(name + "_map"), pool.fresh(name + "_mapped"), pool.fresh(name + "_leaves")};
  }
}

// Loops

int open_cells(FragmentPage& page, const Grid& grid, OpenFragments& here) {
  if (!grid.rows || !grid.columns) return open_rows(page, grid, here) + open_columns(page, grid, here);
  here.half = fmt::format("{} / {}", page.lanes.value, accumulator_tile.lane_columns);
  here.pair = fmt::format("{} % {}", page.lanes.value, accumulator_tile.lane_columns);
  const int opened = open_values(page, grid, here);
  place_row(page, grid, here);
  place_column(page, grid, here);
  place_single(page, here);
  return opened;
}

int open_rows(FragmentPage& page, const Grid& grid, OpenFragments& here) {
  if (!grid.rows) return place_single(page, here), 0;
  here.row = page.lanes.row;
  page.loop(here.row, grid.row_tiles);
  open_half(page, grid, here);
  return 2;
}

int open_columns(FragmentPage& page, const Grid& grid, OpenFragments& here) {
  if (!grid.columns) return place_single(page, here), 0;
  here.column = page.lanes.column, here.pair = page.lanes.pair;
  page.loop(here.column, grid.column_tiles);
  page.loop(here.pair, accumulator_tile.lane_columns);
  if (!here.row.empty()) here.value = value_index(here.half, here.pair);
  place_column(page, grid, here);
  place_single(page, here);
  return 2;
}

int open_values(FragmentPage& page, const Grid& grid, OpenFragments& here) {
  here.row = page.lanes.row, here.column = page.lanes.column, here.value = page.lanes.value;
  page.loop(here.row, grid.row_tiles);
  page.loop(here.column, grid.column_tiles);
  page.loop(here.value, accumulator_tile.values());
  return 3;
}

void open_half(FragmentPage& page, const Grid& grid, OpenFragments& here) {
  here.row = page.lanes.row, here.half = page.lanes.half;
  page.loop(here.half, accumulator_tile.lane_rows);
  if (!here.column.empty()) here.value = value_index(here.half, here.pair);
  place_row(page, grid, here);
  place_single(page, here);
}

OpenFragments open_pairs(FragmentPage& page, const Grid& grid, OpenFragments& first) {
  first.column = page.lanes.column;
  page.loop(first.column, grid.column_tiles);
  return place_pair(page, grid, first);
}

OpenFragments place_pair(FragmentPage& page, const Grid& grid, OpenFragments& first) {
  auto second = first;
  for (auto* here : {&first, &second}) {
    here->pair = here == &first ? "0" : "1";
    here->value = value_index(here->half, here->pair);
    const auto& wire = page.wires[grid.columns->index];
    here->unclamped[*grid.columns] = page.pool.fresh(wire + "_at");
    here->position[*grid.columns] = page.pool.fresh(wire);
    place_column(page, grid, *here);
  }
  return second;
}

// Positions

void place(FragmentPage& page, WireId wire, const std::string& offset, OpenFragments& here, const std::string& eight) {
  const auto& piece = page.own[wire.index];
  page.limit_whole(wire);
  const auto& all = here.unclamped.try_emplace(wire, page.wires[wire.index] + "_at").first->second;
  const auto& position = here.position.try_emplace(wire, page.wires[wire.index]).first->second;
  page.out.declare(all, sum(piece.begin, offset));
  page.out.declare(position, page.clear == wire ? all : clamped(all, piece));
  if (!eight.empty()) here.eight[wire] = eight;
}

void place_single(const FragmentPage& page, OpenFragments& here) {
  for (std::uint32_t w = 0; w < page.own.size(); ++w)
    if (const auto& piece = page.own[w]; piece.extent == 1) here.position.try_emplace(WireId{w}, piece.position);
}

std::string value_index(const std::string& half, const std::string& pair) {
  return fmt::format("{} * {} + {}", half, accumulator_tile.lane_columns, pair);
}
std::string column_offset(const FragmentPage& page, const std::string& first, const std::string& pair) {
  return fmt::format("{} + {} * {} + {}", first, page.lanes.quad, accumulator_tile.lane_columns, pair);
}
std::string row_offset(const FragmentPage& page, WireId rows, const OpenFragments& here) {
  return fmt::format("{} * {} + {} * {}", here.row, row_step(page, rows), in_brackets(here.half),
                     accumulator_tile.groups());
}

std::string further(std::int64_t places) { return places == 0 ? "" : fmt::format(" + {}", places); }

}  // namespace napkin
