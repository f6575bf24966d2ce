// In every step along the contracted axis, the fragments of one operand are loaded first, then those of the other one
// after another.
#include "emit/cuda/warps/products.hpp"

#include <fmt/format.h>

#include "emit/cuda/warps/operands.hpp"
#include "emit/cuda/warps/sums.hpp"

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

// The fragments of one operand in a step: their array, their counter, and their number.
struct Fragments {
  OperandSide side;
  std::string name;
  const std::string& counter;
  std::int64_t count;
};

// Prints the instructions for all fragments of columns that one fragment of the operand covers.
void multiply(FragmentPage& page, const Product& product, const std::string& rows, const std::string& columns) {
  const auto& instruction = *product.instruction;
  constexpr auto square = accumulator_tile.square();
  for (int n = 0; n < square; ++n)
    page.out.line("{}({}[{}][{} * {}{}], {}, {}{});", product_name(instruction), accumulators(page, product),
                  page.lanes.row, page.lanes.column, square, further(n), rows, columns,
                  further(n * instruction.b.registers));
}

// Holds all fragments of the first operand, and loads those of the second one after another.
void print_step(FragmentStatements& statements, const Fragments& first, const Fragments& second) {
  auto& page = statements.page();
  const auto& product = first.side.product;
  auto held = fmt::format("{}[{}]", first.name, first.counter);
  if (first.side.operand().kept) {
    held =
        fmt::format("{}[{}][{}]", page.products.kept.at(first.side.operand().buffer), page.lanes.step, first.counter);
  } else {
    page.out.line("unsigned {}[{}][{}];", first.name, first.count, first.side.registers());
    page.loop(first.counter, first.count);
    load_operand(statements, first.side, held);
    page.out.close();
  }
  page.loop(second.counter, second.count);
  page.out.line("unsigned {}[{}];", second.name, second.side.registers());
  load_operand(statements, second.side, second.name);
  page.loop(first.counter, first.count);
  first.side.rows ? multiply(page, product, held, second.name) : multiply(page, product, second.name, held);
  page.out.close(2);
}

// Promotes sums at the end of a step of the instruction.
void promote_after(FragmentStatements& statements, const Product& product) {
  auto& page = statements.page();
  const auto& step = page.lanes.step;
  const bool once = product.steps <= product.promoted;
  if (once)
    page.out.open("if ({} + 1 == {})", step, product.steps);
  else
    page.out.open("if ({0} % {1} == {1} - 1 || {0} + 1 == {2})", step, product.promoted, product.steps);
  promote(statements, product);
  if (!once) clear_partial_sums(page, product);
  page.out.close();
}

}  // namespace

// If fragments are widened and none are computed, the loop is not unrolled, because a compiler would hold those of
// several steps at once.
void print_product(FragmentStatements& statements, const Product& product) {
  auto& page = statements.page();
  limit_sum(page, product);
  statements.begin(*product.compute);
  const auto& grid = page.warps.columns.at(product.compute);
  const Fragments rows{{product, true}, page.pool.fresh("a"), page.lanes.row, grid.row_tiles};
  const Fragments columns{{product, false}, page.pool.fresh("b"), page.lanes.column, pairs_of_columns(grid)};
  const bool rows_first = product.rows.computed || product.rows.kept || rows.count <= columns.count;
  if (product.promoted > 0) declare_partial_sums(page, product);
  page.loop(page.lanes.step, product.steps, !product.widened || product.has_computed());
  rows_first ? print_step(statements, rows, columns) : print_step(statements, columns, rows);
  if (product.promoted > 0) promote_after(statements, product);
  page.out.close();
  statements.round(*product.compute);
}

void keep_operand(FragmentStatements& statements, const Product& product) {
  auto& page = statements.page();
  const OperandSide side{product, true};
  const auto& name = page.products.kept[product.rows.buffer] =
      page.pool.fresh(page.buffer(product.rows.buffer) + "_kept");
  const auto& grid = page.warps.columns.at(product.compute);
  page.out.line("unsigned {}[{}][{}][{}];", name, product.steps, grid.row_tiles, side.registers());
  page.loop(page.lanes.step, product.steps);
  page.loop(page.lanes.row, grid.row_tiles);
  load_fragment(statements, side, fmt::format("{}[{}][{}]", name, page.lanes.step, page.lanes.row));
  page.out.close(2);
}

}  // namespace napkin
