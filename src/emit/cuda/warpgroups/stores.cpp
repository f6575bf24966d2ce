// Stores the rows of one instruction after those of another, through the same shared memory.
#include "emit/cuda/warpgroups/stores.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "emit/cuda/warps/buffers.hpp"
#include "emit/cuda/warps/columns.hpp"

namespace napkin {
namespace {

// The rows of one instruction of a warpgroup.
std::int64_t rows_of_instruction(const WarpNest& warps) { return warps.issuing_warps * accumulator_tile.rows; }

const std::vector<WireId>& wires_of(const FragmentPage& page, BufferId id) {
  return page.diagram.at(page.nest.at(id).array).wires;
}

// Whether consecutive rows of the warpgroup are adjacent in memory.
bool lies_across(const FragmentPage& page, BufferId id) {
  return wires_of(page, id)[*page.warps.stores.at(id).column] == *page.warps.arrays.at(id).rows;
}

// The pieces that the tile has along the wire: rows are those of all warpgroups of the block.
const WirePiece& piece_of(const FragmentPage& page, BufferId id, WireId wire) {
  return (wire == *page.warps.arrays.at(id).rows ? page.shared : page.own)[wire.index];
}

// Where the warpgroup's rows of the current instruction begin, relative to the block's rows.
std::string first_row(const FragmentPage& page, BufferId id) {
  const auto tiles = page.warps.arrays.at(id).row_tiles, rows = rows_of_instruction(page.warps);
  const auto warpgroup = fmt::format("{} / {}", page.lanes.warp, page.warps.issuing_warps);
  return tiles == 1 ? fmt::format("{} * {}", warpgroup, rows)
                    : fmt::format("({} * {} + {}) * {}", warpgroup, tiles, page.lanes.row, rows);
}
// The position in the array at which what the warpgroup stores begins.
std::string first_stored(const FragmentPage& page, BufferId id, WireId wire) {
  const auto& begin = piece_of(page, id, wire).begin;
  return wire == *page.warps.arrays.at(id).rows ? fmt::format("{} + {}", begin, first_row(page, id)) : begin;
}

// From registers into the tile

std::string staged_at(const FragmentPage& page, BufferId id, const std::string& row, const std::string& column) {
  const auto& layout = page.warps.stores.at(id).layout;
  return fmt::format("{} + {}", page.stores.at(id).tile,
                     lies_across(page, id) ? tile_place(layout, column, row) : tile_place(layout, row, column));
}

void stage_pairs(FragmentStatements& statements, BufferId id) {
  auto& page = statements.page();
  const auto& grid = page.warps.arrays.at(id);
  const auto& lanes = page.lanes;
  OpenFragments first;
  open_half(page, grid, first);
  const auto second = open_pairs(page, grid, first);
  const auto row = fmt::format("{} * {} + {} * {} + {}", lanes.warp, accumulator_tile.rows, lanes.half,
                               accumulator_tile.groups(), lanes.group);
  const auto column = fmt::format("{} * {} + {} * {}", lanes.column, accumulator_tile.columns, lanes.quad,
                                  accumulator_tile.lane_columns);
  const auto one = saved_number(statements, id, first), other = saved_number(statements, id, second);
  if (lies_across(page, id)) {
    page.out.line("napkin_shared_write({}, {});", staged_at(page, id, row, column), one);
    page.out.line("napkin_shared_write({}, {});", staged_at(page, id, row, column + " + 1"), other);
  } else {
    page.out.line("napkin_stage_pair({}, {}, {});", staged_at(page, id, row, column), one, other);
  }
  page.out.close(2);
}

// Fills the registers of matrices with pairs of numbers.
void fill_matrices(FragmentStatements& statements, BufferId id, const std::string& matrices) {
  auto& page = statements.page();
  const auto& grid = page.warps.arrays.at(id);
  const auto& lanes = page.lanes;
  constexpr auto square = accumulator_tile.square(), halves = accumulator_tile.lane_rows;
  page.loop(lanes.column, square);
  OpenFragments first;
  open_half(page, grid, first);
  first.column = fmt::format("({} * {} + {})", lanes.step, square, lanes.column);
  const auto second = place_pair(page, grid, first);
  const auto one = statements.held_value(id, first), other = statements.held_value(id, second);
  page.out.line("{}[{} * {} + {}] = napkin_pack_{}({}, {});", matrices, lanes.column, halves, lanes.half,
                napkin::row(page.diagram.at(page.nest.at(id).array).type).name, one, other);
  page.out.close(2);
}

// Stages 2-byte numbers: several neighbouring fragments are stored at once, as all matrices of an f16 operand.
void stage_matrices(FragmentStatements& statements, BufferId id) {
  auto& page = statements.page();
  const auto& lanes = page.lanes;
  const auto all = page.pool.fresh("matrices");
  const auto fragment = operand_at_once(*find_matrix_instruction(Datatype::f16), true);
  page.loop(lanes.step, page.warps.arrays.at(id).column_tiles / accumulator_tile.square());
  page.out.line("unsigned {}[{}];", all, fragment.registers);
  fill_matrices(statements, id, all);
  const bool across = lies_across(page, id);
  const auto in_lanes = [&](const Layout& layout) { return to_expression(layout, lanes.lane); };
  const auto row = fmt::format("{} * {} + {}", lanes.warp, fragment.rows, in_lanes(matrix_row(fragment, across).row));
  const auto column =
      fmt::format("{} * {} + {}", lanes.step, fragment.columns, in_lanes(matrix_row(fragment, false).column)) +
      (across ? fmt::format(" + {} % {}", lanes.lane, accumulator_tile.groups()) : "");
  const auto& instruction =
      *std::ranges::find_if(matrix_stores(), [&](const MatrixStore& each) { return each.transposed == across; });
  page.out.line("{}({}, {});", function_name(instruction), staged_at(page, id, row, column), all);
  page.out.close();
}

// From the tile into the array

// Copies panel after panel. If consecutive rows of the warpgroup are adjacent in memory, they have panels of their own;
// otherwise every panel contains some of them.
void copy_boxes(FragmentPage& page, BufferId id) {
  const auto& wires = wires_of(page, id);
  const auto& layout = page.warps.stores.at(id).layout;
  const bool across = lies_across(page, id);
  const auto rows = rows_of_instruction(page.warps);
  for (std::int64_t begin = 0; begin < (across ? rows : layout.columns); begin += layout.panel) {
    std::string at;
    for (const auto wire : wires)
      at += ", " + first_stored(page, id, wire) + (wire == wires.back() ? further(begin) : "");
    page.out.line("{}(&{}, {} + {} / {} * {}{}{});", tile_store_name(wires.size()), page.stores.at(id).map,
                  page.stores.at(id).tile, page.lanes.warp, page.warps.issuing_warps,
                  rows * (across ? layout.rows : layout.panel), further(begin * layout.rows), at);
  }
  page.out.line("napkin_store_commit();");
}

void copy_numbers(FragmentPage& page, BufferId id) {
  const auto array = page.nest.at(id).array;
  const auto& wires = wires_of(page, id);
  const auto& grid = page.warps.arrays.at(id);
  const auto& layout = page.warps.stores.at(id).layout;
  const bool across = lies_across(page, id);
  const auto rows = rows_of_instruction(page.warps);
  const auto along = across ? *grid.columns : *grid.rows;  // the wire from one row of the tile to the next
  const auto at = texts_of(wires, [&](WireId wire) { return first_stored(page, id, wire); });
  const auto dimension = static_cast<std::size_t>(std::ranges::find(wires, along) - wires.begin());
  const auto step = code_step(page.diagram, page.names, array, dimension);
  const auto left = [&](WireId wire) {
    return fmt::format("{} - ({})", piece_of(page, id, wire).end, first_stored(page, id, wire));
  };
  const auto warpgroup = fmt::format("{} / {} * {}", page.lanes.warp, page.warps.issuing_warps, rows);
  page.out.line("napkin_store_numbers<{}, {}, {}, {}, {}>({}, {}, {}, &{}[{}], (long long){}, {}, {});",
                across ? layout.rows : rows, across ? rows : layout.columns, layout.rows, layout.panel, layout.bits,
                page.stores.at(id).tile, across ? "0" : warpgroup, across ? warpgroup : "0", page.array(array),
                page.offset(array, at), fmt::join(step, " * "), left(along), left(wires.back()));
}

}  // namespace

void describe_stores(FragmentPage& page) {
  const auto& warps = page.warps;
  for (const auto& [id, tile] : warps.stores)
    page.out.line("//   {} leaves through shared memory, by TMA where its rows are aligned",
                  page.diagram.at(page.nest.at(id).array).name);
  if (!warps.no_stores.empty())
    page.out.line("//   {} leave from registers: {}", warps.stores.empty() ? "outputs" : "others", warps.no_stores);
}

std::vector<std::string> store_parameters(const FragmentPage& page) {
  std::vector<std::string> all;
  for (const auto& [id, names] : page.stores) {
    all.push_back(fmt::format("const __grid_constant__ CUtensorMap {}", names.map));
    all.push_back(fmt::format("const int {}", names.mapped));
  }
  return all;
}

void declare_stores(FragmentPage& page) {
  for (const auto& [id, tile] : page.warps.stores)
    page.declare_in_shared(page.storage(page.nest.at(id).array), page.stores.at(id).tile, tile.begin,
                           fmt::format("[{}][{}]", tile.layout.rows, tile.layout.columns));
}

void print_store(FragmentStatements& statements, BufferId id) {
  auto& page = statements.page();
  page.loop(page.lanes.row, page.warps.arrays.at(id).row_tiles);
  page.out.line("napkin_store_wait();");
  page.warps.stores.at(id).layout.bytes == 2 ? stage_matrices(statements, id) : stage_pairs(statements, id);
  page.out.line("napkin_store_ready();");
  page.out.open("if (!{})", page.stores.at(id).mapped);
  copy_numbers(page, id);
  page.out.otherwise(fmt::format("threadIdx.x % {} == 0", page.warps.issuing_warps * lanes_of_warp));
  copy_boxes(page, id);
  page.out.close(2);
}

void end_stores(FragmentPage& page) {
  if (!page.warps.stores.empty()) page.out.line("napkin_store_end();");
}

}  // namespace napkin
