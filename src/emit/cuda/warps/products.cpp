// In every step along the contracted axis, the fragments of one operand are loaded first, then those of the other one
// after another.
#include "emit/cuda/warps/products.hpp"

#include <fmt/format.h>

#include "emit/cuda/warps/parts.hpp"

namespace napkin {
namespace {

// Limits the size of axes if a sum can hold only a limited number of products.
void limit_sum(FragmentPage& page, const Product& product) {
  if (product.longest == 0) return;
  for (const auto wire : product.compute->column.over)
    if (wire != product.over) page.limit(wire);
  page.limits.try_emplace(page.diagram.at(product.over).axis, product.longest);
}

void load_operand(FragmentStatements& statements, const OperandSide& side, const std::string& to) {
  if (side.product.instruction->formats) return load_parts(statements, side, to);
  side.operand().computed ? pack(statements, side, to) : load_fragment(statements, side, to);
}

// The fragments of columns that one fragment of the operand covers, in pairs.
std::int64_t pairs_of_columns(const Grid& grid) { return grid.column_tiles / accumulator_tile.square(); }

}  // namespace

// If fragments are widened and none are computed, the loop is not unrolled, because a compiler would hold those of
// several steps at once.
void WarpProducts::print(const Product& product) {
  auto& page = statements_.page();
  limit_sum(page, product);
  statements_.begin(*product.compute);
  const auto& grid = page.warps.columns.at(product.compute);
  const bool rows_first = product.rows.computed || product.rows.kept || grid.row_tiles <= pairs_of_columns(grid);
  const auto rows = page.pool.fresh("a"), columns = page.pool.fresh("b");
  if (product.promoted > 0) sums_.declare(product);
  page.loop(page.lanes.step, product.steps, !product.widened || product.has_computed());
  rows_first ? print_rows_first(product, rows, columns) : print_columns_first(product, rows, columns);
  if (product.promoted > 0) promote_after(product);
  page.out.close();
  statements_.round(*product.compute);
}

void WarpProducts::print_rows_first(const Product& product, const std::string& rows, const std::string& columns) {
  auto& page = statements_.page();
  const auto &row = page.lanes.row, &column = page.lanes.column;
  const auto& grid = page.warps.columns.at(product.compute);
  const OperandSide row_side{product, true}, column_side{product, false};
  auto a = fmt::format("{}[{}]", rows, row);
  if (product.rows.kept) {
    a = fmt::format("{}[{}][{}]", kept_.at(product.rows.buffer), page.lanes.step, row);
  } else {
    page.out.line("unsigned {}[{}][{}];", rows, grid.row_tiles, row_side.registers());
    page.loop(row, grid.row_tiles);
    load_operand(statements_, row_side, a);
    page.out.close();
  }
  page.loop(column, pairs_of_columns(grid));
  page.out.line("unsigned {}[{}];", columns, column_side.registers());
  load_operand(statements_, column_side, columns);
  page.loop(row, grid.row_tiles);
  multiply(product, a, columns);
  page.out.close(2);
}

void WarpProducts::print_columns_first(const Product& product, const std::string& rows, const std::string& columns) {
  auto& page = statements_.page();
  const auto &row = page.lanes.row, &column = page.lanes.column;
  const auto& grid = page.warps.columns.at(product.compute);
  const auto pairs = pairs_of_columns(grid);
  const OperandSide row_side{product, true}, column_side{product, false};
  const auto b = fmt::format("{}[{}]", columns, column);
  page.out.line("unsigned {}[{}][{}];", columns, pairs, column_side.registers());
  page.loop(column, pairs);
  load_operand(statements_, column_side, b);
  page.out.close();
  page.loop(row, grid.row_tiles);
  page.out.line("unsigned {}[{}];", rows, row_side.registers());
  load_operand(statements_, row_side, rows);
  page.loop(column, pairs);
  multiply(product, rows, b);
  page.out.close(2);
}

// Prints the instructions for all fragments of columns that one fragment of the operand covers.
void WarpProducts::multiply(const Product& product, const std::string& rows, const std::string& columns) {
  auto& page = statements_.page();
  const auto& instruction = *product.instruction;
  constexpr auto square = accumulator_tile.square();
  for (int n = 0; n < square; ++n)
    page.out.line("{}({}[{}][{} * {}{}], {}, {}{});", product_name(instruction), sums_.accumulators(product),
                  page.lanes.row, page.lanes.column, square, further(n), rows, columns,
                  further(n * instruction.b.registers));
}

// Promotes sums at the end of a step of the instruction.
void WarpProducts::promote_after(const Product& product) {
  auto& page = statements_.page();
  const bool once = product.steps <= product.promoted;
  page.out.open(once ? fmt::format("if ({} + 1 == {})", page.lanes.step, product.steps)
                     : fmt::format("if ({0} % {1} == {1} - 1 || {0} + 1 == {2})", page.lanes.step, product.promoted,
                                   product.steps));
  sums_.promote(product);
  if (!once) sums_.clear(product);
  page.out.close();
}

void WarpProducts::keep(const Product& product) {
  auto& page = statements_.page();
  const OperandSide side{product, true};
  const auto& name = kept_[product.rows.buffer] = page.pool.fresh(page.buffer(product.rows.buffer) + "_kept");
  const auto& grid = page.warps.columns.at(product.compute);
  page.out.line("unsigned {}[{}][{}][{}];", name, product.steps, grid.row_tiles, side.registers());
  page.loop(page.lanes.step, product.steps);
  page.loop(page.lanes.row, grid.row_tiles);
  load_fragment(statements_, side, fmt::format("{}[{}][{}]", name, page.lanes.step, page.lanes.row));
  page.out.close(2);
}

}  // namespace napkin
