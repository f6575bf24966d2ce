// Stores the rows of one instruction after those of another, through the same shared memory.
#include "emit/cuda/warpgroups/stores.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "emit/cuda/warps/buffers.hpp"
#include "emit/cuda/warps/saves.hpp"

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

}  // namespace

StorePrinter::StorePrinter(FragmentStatements& statements) : statements_(statements), page_(statements.page()) {
  for (const auto& [id, tile] : page_.warps.stores) {
    const auto& name = page_.array(page_.nest.at(id).array);
    names_[id] = {page_.pool.fresh(name + "_map"), page_.pool.fresh(name + "_mapped"),
                  page_.pool.fresh(name + "_leaves")};
  }
}

void StorePrinter::describe() const {
  const auto& warps = page_.warps;
  for (const auto& [id, tile] : warps.stores)
    page_.out.line("//   {} leaves through shared memory, by TMA where its rows are aligned",
                   page_.diagram.at(page_.nest.at(id).array).name);
  if (!warps.no_stores.empty())
    page_.out.line("//   {} leave from registers: {}", warps.stores.empty() ? "outputs" : "others", warps.no_stores);
}

std::vector<std::string> StorePrinter::parameters() const {
  std::vector<std::string> all;
  for (const auto& [id, names] : names_) {
    all.push_back(fmt::format("const __grid_constant__ CUtensorMap {}", names.map));
    all.push_back(fmt::format("const int {}", names.mapped));
  }
  return all;
}

void StorePrinter::declare() const {
  for (const auto& [id, tile] : page_.warps.stores)
    page_.declare_in_shared(page_.storage(page_.nest.at(id).array), names_.at(id).tile, tile.begin,
                            fmt::format("[{}][{}]", tile.layout.rows, tile.layout.columns));
}

void StorePrinter::end() const {
  if (!page_.warps.stores.empty()) page_.out.line("napkin_store_end();");
}

void StorePrinter::print(BufferId id) {
  page_.loop(page_.lanes.row, page_.warps.arrays.at(id).row_tiles);
  page_.out.line("napkin_store_wait();");
  stage(id);
  page_.out.line("napkin_store_ready();");
  page_.out.open("if (!{})", names_.at(id).mapped);
  copy_numbers(id);
  page_.out.otherwise(fmt::format("threadIdx.x % {} == 0", page_.warps.issuing_warps * lanes_of_warp));
  copy_boxes(id);
  page_.out.close();
  page_.out.close();
}

// From registers into the tile

std::string StorePrinter::staged_at(BufferId id, const std::string& row, const std::string& column) const {
  const auto& layout = page_.warps.stores.at(id).layout;
  return fmt::format("{} + {}", names_.at(id).tile,
                     lies_across(page_, id) ? tile_place(layout, column, row) : tile_place(layout, row, column));
}

void StorePrinter::stage(BufferId id) {
  page_.warps.stores.at(id).layout.bytes == 2 ? stage_matrices(id) : stage_pairs(id);
}

void StorePrinter::stage_pairs(BufferId id) {
  const auto& grid = page_.warps.arrays.at(id);
  const auto& lanes = page_.lanes;
  OpenFragments first;
  open_half(page_, grid, first);
  const auto second = open_pairs(page_, grid, first);
  const auto row = fmt::format("{} * {} + {} * {} + {}", lanes.warp, accumulator_tile.rows, lanes.half,
                               accumulator_tile.groups(), lanes.group);
  const auto column = fmt::format("{} * {} + {} * {}", lanes.column, accumulator_tile.columns, lanes.quad,
                                  accumulator_tile.lane_columns);
  const auto one = saved_number(statements_, id, first), other = saved_number(statements_, id, second);
  if (lies_across(page_, id)) {
    page_.out.line("napkin_shared_write({}, {});", staged_at(id, row, column), one);
    page_.out.line("napkin_shared_write({}, {});", staged_at(id, row, column + " + 1"), other);
  } else {
    page_.out.line("napkin_stage_pair({}, {}, {});", staged_at(id, row, column), one, other);
  }
  page_.out.close(2);
}

// Stages 2-byte numbers: several neighbouring fragments are stored at once, as all matrices of an f16 operand.
void StorePrinter::stage_matrices(BufferId id) {
  const auto& lanes = page_.lanes;
  const auto all = page_.pool.fresh("matrices");
  const auto fragment = operand_at_once(*find_matrix_instruction(Datatype::f16), true);
  page_.loop(lanes.step, page_.warps.arrays.at(id).column_tiles / accumulator_tile.square());
  page_.out.line("unsigned {}[{}];", all, fragment.registers);
  fill_matrices(id, all);
  const bool across = lies_across(page_, id);
  const auto in_lanes = [&](const Layout& layout) { return to_expression(layout, lanes.lane); };
  const auto row = fmt::format("{} * {} + {}", lanes.warp, fragment.rows, in_lanes(matrix_row(fragment, across).row));
  const auto column =
      fmt::format("{} * {} + {}", lanes.step, fragment.columns, in_lanes(matrix_row(fragment, false).column)) +
      (across ? fmt::format(" + {} % {}", lanes.lane, accumulator_tile.groups()) : "");
  const auto& instruction =
      *std::ranges::find_if(matrix_stores(), [&](const MatrixStore& each) { return each.transposed == across; });
  page_.out.line("{}({}, {});", function_name(instruction), staged_at(id, row, column), all);
  page_.out.close();
}
// Fills the registers of matrices with pairs of numbers.
void StorePrinter::fill_matrices(BufferId id, const std::string& matrices) {
  const auto& grid = page_.warps.arrays.at(id);
  const auto& lanes = page_.lanes;
  constexpr auto square = accumulator_tile.square(), halves = accumulator_tile.lane_rows;
  page_.loop(lanes.column, square);
  OpenFragments first;
  open_half(page_, grid, first);
  first.column = fmt::format("({} * {} + {})", lanes.step, square, lanes.column);
  const auto second = place_pair(page_, grid, first);
  const auto one = statements_.held_value(id, first), other = statements_.held_value(id, second);
  page_.out.line("{}[{} * {} + {}] = napkin_pack_{}({}, {});", matrices, lanes.column, halves, lanes.half,
                 napkin::row(page_.diagram.at(page_.nest.at(id).array).type).name, one, other);
  page_.out.close(2);
}

// From the tile into the array

// Copies panel after panel. If consecutive rows of the warpgroup are adjacent in memory, they have panels of their own;
// otherwise every panel contains some of them.
void StorePrinter::copy_boxes(BufferId id) const {
  const auto& wires = wires_of(page_, id);
  const auto& layout = page_.warps.stores.at(id).layout;
  const bool across = lies_across(page_, id);
  const auto rows = rows_of_instruction(page_.warps);
  for (std::int64_t begin = 0; begin < (across ? rows : layout.columns); begin += layout.panel) {
    std::string at;
    for (const auto wire : wires)
      at += ", " + first_stored(page_, id, wire) + (wire == wires.back() ? further(begin) : "");
    page_.out.line("{}(&{}, {} + {} / {} * {}{}{});", tile_store_name(wires.size()), names_.at(id).map,
                   names_.at(id).tile, page_.lanes.warp, page_.warps.issuing_warps,
                   rows * (across ? layout.rows : layout.panel), further(begin * layout.rows), at);
  }
  page_.out.line("napkin_store_commit();");
}

void StorePrinter::copy_numbers(BufferId id) const {
  const auto array = page_.nest.at(id).array;
  const auto& wires = wires_of(page_, id);
  const auto& grid = page_.warps.arrays.at(id);
  const auto& layout = page_.warps.stores.at(id).layout;
  const bool across = lies_across(page_, id);
  const auto rows = rows_of_instruction(page_.warps);
  const auto along = across ? *grid.columns : *grid.rows;  // the wire from one row of the tile to the next
  std::vector<std::string> at;
  for (const auto wire : wires) at.push_back(first_stored(page_, id, wire));
  const auto dimension = static_cast<std::size_t>(std::ranges::find(wires, along) - wires.begin());
  const auto step = code_step(page_.diagram, page_.names, array, dimension);
  const auto left = [&](WireId wire) {
    return fmt::format("{} - ({})", piece_of(page_, id, wire).end, first_stored(page_, id, wire));
  };
  const auto warpgroup = fmt::format("{} / {} * {}", page_.lanes.warp, page_.warps.issuing_warps, rows);
  page_.out.line("napkin_store_numbers<{}, {}, {}, {}, {}>({}, {}, {}, &{}[{}], (long long){}, {}, {});",
                 across ? layout.rows : rows, across ? rows : layout.columns, layout.rows, layout.panel, layout.bits,
                 names_.at(id).tile, across ? "0" : warpgroup, across ? warpgroup : "0", page_.array(array),
                 page_.offset(array, at), fmt::join(step, " * "), left(along), left(wires.back()));
}

}  // namespace napkin
