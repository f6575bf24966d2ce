// Outputs of a warpgroup that are stored through shared memory: fragments are written into the tile, then boxes of the
// tile into the array by TMA. If rows of the array are not aligned, the tile is copied number by number.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "emit/cuda/warps/fragments.hpp"
#include "emit/cuda/warps/tiles.hpp"

namespace napkin {

// Stores the rows of one instruction after those of another, through the same shared memory.
void FragmentPrinter::store(BufferId id) {
  loop(lanes.row, warps_.arrays.at(id).row_tiles);
  out_.line("napkin_store_wait();");
  stage(id);
  out_.line("napkin_store_ready();");
  out_.open(fmt::format("if (!{})", stores.at(id).mapped));
  copy_numbers(id);
  out_.close(fmt::format("}} else if (threadIdx.x % {} == 0) {{", warps_.issuing_warps * lanes_of_warp));
  out_.deepen();
  copy_boxes(id);
  out_.close();
  out_.close();
}

// Whether consecutive rows of the warpgroup are adjacent in memory.
bool FragmentPrinter::lies_across(BufferId id) const {
  const auto& wires = page_.diagram.at(page_.nest.at(id).array).wires;
  return wires[*warps_.stores.at(id).column] == *warps_.arrays.at(id).rows;
}
std::string FragmentPrinter::staged_at(BufferId id, const std::string& row, const std::string& column) const {
  const auto& layout = warps_.stores.at(id).layout;
  return fmt::format("{} + {}", stores.at(id).tile,
                     lies_across(id) ? tile_place(layout, column, row) : tile_place(layout, row, column));
}

void FragmentPrinter::stage(BufferId id) {
  if (warps_.stores.at(id).layout.bytes == 2) return stage_matrices(id);
  const auto& grid = warps_.arrays.at(id);
  Here first;
  open_half(grid, first);
  const auto second = open_pairs(grid, first);
  const auto row = fmt::format("{} * {} + {} * {} + {}", lanes.warp, accumulator_tile.rows, lanes.half,
                               accumulator_tile.groups(), lanes.group);
  const auto column = fmt::format("{} * {} + {} * {}", lanes.column, accumulator_tile.columns, lanes.quad,
                                  accumulator_tile.lane_columns);
  const auto one = stored(id, first), other = stored(id, second);
  if (lies_across(id)) {
    out_.line(fmt::format("napkin_shared_write({}, {});", staged_at(id, row, column), one));
    out_.line(fmt::format("napkin_shared_write({}, {});", staged_at(id, row, column + " + 1"), other));
  } else {
    out_.line(fmt::format("napkin_stage_pair({}, {}, {});", staged_at(id, row, column), one, other));
  }
  out_.close(2);
}

// Stages 2-byte numbers: several neighbouring fragments are stored at once, as all matrices of an f16 operand.
void FragmentPrinter::stage_matrices(BufferId id) {
  const auto& grid = warps_.arrays.at(id);
  const auto all = page_.pool.fresh("matrices");
  const auto fragment = operand_at_once(*find_matrix_instruction(Datatype::f16), true);
  constexpr auto square = accumulator_tile.square(), halves = accumulator_tile.lane_rows;
  loop(lanes.step, grid.column_tiles / square);
  out_.line(fmt::format("unsigned {}[{}];", all, fragment.registers));
  loop(lanes.column, square);
  Here first;
  open_half(grid, first);
  first.column = fmt::format("({} * {} + {})", lanes.step, square, lanes.column);
  const auto second = pair(grid, first);
  const auto one = leaving(id, first), other = leaving(id, second);
  out_.line(fmt::format("{}[{} * {} + {}] = napkin_pack_{}({}, {});", all, lanes.column, halves, lanes.half,
                        napkin::row(page_.diagram.at(page_.nest.at(id).array).type).name, one, other));
  out_.close(2);
  const bool across = lies_across(id);
  const auto in_lanes = [&](const Layout& layout) { return to_expression(layout, lanes.lane); };
  const auto row = fmt::format("{} * {} + {}", lanes.warp, fragment.rows, in_lanes(matrix_row(fragment, across).row));
  const auto column =
      fmt::format("{} * {} + {}", lanes.step, fragment.columns, in_lanes(matrix_row(fragment, false).column)) +
      (across ? fmt::format(" + {} % {}", lanes.lane, accumulator_tile.groups()) : "");
  const auto& instruction = *std::find_if(matrix_stores().begin(), matrix_stores().end(),
                                          [&](const MatrixStore& each) { return each.transposed == across; });
  out_.line(fmt::format("{}({}, {});", function_name(instruction), staged_at(id, row, column), all));
  out_.close();
}

// Where the warpgroup's rows of the current instruction begin, relative to the block's rows.
std::string FragmentPrinter::first_row(BufferId id) const {
  const auto tiles = warps_.arrays.at(id).row_tiles, rows = warps_.issuing_warps * accumulator_tile.rows;
  return tiles == 1 ? fmt::format("{} / {} * {}", lanes.warp, warps_.issuing_warps, rows)
                    : fmt::format("({} / {} * {} + {}) * {}", lanes.warp, warps_.issuing_warps, tiles, lanes.row, rows);
}
// The position of the first of these rows in the array.
std::string FragmentPrinter::first_stored(BufferId id, WireId wire) const {
  const bool of_rows = wire == *warps_.arrays.at(id).rows;
  const auto& begin = (of_rows ? page_.shared : page_.own)[wire.index].begin;
  return of_rows ? fmt::format("{} + {}", begin, first_row(id)) : begin;
}

// Copies panel after panel. If consecutive rows of the warpgroup are adjacent in memory, they have panels of their own;
// otherwise every panel contains some of them.
void FragmentPrinter::copy_boxes(BufferId id) {
  const auto& wires = page_.diagram.at(page_.nest.at(id).array).wires;
  const auto& layout = warps_.stores.at(id).layout;
  const bool across = lies_across(id);
  const auto rows = warps_.issuing_warps * accumulator_tile.rows;
  for (std::int64_t begin = 0; begin < (across ? rows : layout.columns); begin += layout.panel) {
    std::string at;
    for (const auto wire : wires) at += ", " + first_stored(id, wire) + (wire == wires.back() ? further(begin) : "");
    out_.line(fmt::format("{}(&{}, {} + {} / {} * {}{}{});", tile_store_name(wires.size()), stores.at(id).map,
                          stores.at(id).tile, lanes.warp, warps_.issuing_warps,
                          rows * (across ? layout.rows : layout.panel), further(begin * layout.rows), at));
  }
  out_.line("napkin_store_commit();");
}

void FragmentPrinter::copy_numbers(BufferId id) {
  const auto array = page_.nest.at(id).array;
  const auto& wires = page_.diagram.at(array).wires;
  const auto& grid = warps_.arrays.at(id);
  const auto& layout = warps_.stores.at(id).layout;
  const bool across = lies_across(id);
  const auto rows = warps_.issuing_warps * accumulator_tile.rows;
  const auto along = across ? *grid.columns : *grid.rows;  // the wire from one row of the tile to the next
  std::vector<std::string> at;
  for (const auto wire : wires) at.push_back(first_stored(id, wire));
  const auto dimension = static_cast<std::size_t>(std::find(wires.begin(), wires.end(), along) - wires.begin());
  const auto step = code_step(page_.diagram, page_.names, array, dimension);
  const auto left = [&](WireId wire) {
    const auto& end = (wire == *grid.rows ? page_.shared : page_.own)[wire.index].end;
    return fmt::format("{} - ({})", end, first_stored(id, wire));
  };
  const auto warpgroup = fmt::format("{} / {} * {}", lanes.warp, warps_.issuing_warps, rows);
  out_.line(fmt::format("napkin_store_numbers<{}, {}, {}, {}, {}>({}, {}, {}, &{}[{}], (long long){}, {}, {});",
                        across ? layout.rows : rows, across ? rows : layout.columns, layout.rows, layout.panel,
                        layout.bits, stores.at(id).tile, across ? "0" : warpgroup, across ? warpgroup : "0",
                        page_.array(array), page_.offset(array, at), fmt::join(step, " * "), left(along),
                        left(wires.back())));
}

}  // namespace napkin
