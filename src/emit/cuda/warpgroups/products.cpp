// Prints the asynchronous instructions of warpgroups, and what must be done before and after them.
#include "emit/cuda/warpgroups/products.hpp"

#include <fmt/format.h>

#include "derive/columns.hpp"
#include "emit/cuda/warps/buffers.hpp"
#include "emit/cuda/warps/operands.hpp"
#include "emit/cuda/warps/sums.hpp"

namespace napkin {
namespace {

// Where the rows or columns of the instruction begin in the tile, counted in instructions; empty for 0.
std::string first_instruction(FragmentPage& page, const OperandSide& side) {
  const auto begin = begin_in_tile(page, side);
  const auto first = begin.empty() ? "" : fmt::format("{} / {}", in_brackets(begin), side.product.instruction->m);
  if (!side.rows || page.warps.columns.at(side.product.compute).row_tiles == 1) return first;
  return first.empty() ? page.lanes.row : fmt::format("({} + {})", first, page.lanes.row);
}

// "napkin_operand<1, 8192, 1024>(K_tile + ...)", the rows or columns of a step, at unswizzled places, because the
// hardware swizzles chunks by the bits of their addresses. If the tile is contracted along memory, a step follows the
// one before within a panel; otherwise it lies `k` rows below.
std::string operand_in_tile(FragmentPage& page, const OperandSide& side) {
  const auto& operand = side.operand();
  const auto& layout = page.warps.tiles.at(operand.buffer).layout;
  const auto& counter = page.lanes.step;
  const auto [leading, stride, swizzle] = operand_place(layout);
  const auto panel = layout.panel, panel_size = layout.rows * layout.panel;
  const auto m = side.product.instruction->m, k = side.product.instruction->k;
  const auto first = first_instruction(page, side);
  const auto rows_size = operand.transposed ? m / panel * panel_size : m * panel;  // of an instruction
  const auto step = operand.transposed ? fmt::format("{} * {}", counter, k * panel)
                    : panel == k       ? fmt::format("{} * {}", counter, panel_size)
                                 : fmt::format("{0} / {1} * {2} + {0} % {1} * {3}", counter, panel / k, panel_size, k);
  const auto place = first.empty() ? step : fmt::format("{} * {} + {}", first, rows_size, step);
  return fmt::format("napkin_operand<{}, {}, {}>({} + {})", swizzle, leading, stride,
                     tile_pointer(page, operand.buffer), place);
}

// The first operand of the current instruction.
std::string first_operand(FragmentPage& page, const Product& product) {
  return product.rows.computed
             ? fmt::format("{}[{}][{}]", page.products.operands.at(product.compute), page.lanes.row, page.lanes.step)
             : operand_in_tile(page, {product, true});
}

void declare_operands(FragmentPage& page, const Product& product) {
  const auto& name = page.products.operands[product.compute] = page.pool.fresh("a");
  page.out.line("unsigned {}[{}][{}][{}];", name, page.warps.columns.at(product.compute).row_tiles, product.steps,
                product.instruction->a.registers);
}

// Packs values that the warpgroup computed as operands of all steps at once: they stay unchanged until the products are
// done.
void pack_operands(FragmentStatements& statements, const Product& product) {
  auto& page = statements.page();
  if (!page.products.ahead.contains(product.compute)) declare_operands(page, product);
  page.loop(page.lanes.step, product.steps);
  page.loop(page.lanes.row, page.warps.columns.at(product.compute).row_tiles);
  pack(statements, {product, true}, first_operand(page, product));
  page.out.close(2);
}

// Promotes sums within a product that is long enough for that.
void promote_between(FragmentStatements& statements, const Product& product) {
  auto& page = statements.page();
  page.out.open("if ({0} % {1} == {1} - 1 && {0} + 1 < {2})", page.lanes.step, product.promoted, product.steps);
  page.out.line("napkin_warpgroup_commit();");
  page.out.line("napkin_warpgroup_wait<0>();");
  hold_sums(page, product);
  promote(statements, product);
  clear_partial_sums(page, product);
  page.out.line("napkin_warpgroup_fence();");
  page.out.close();
}

}  // namespace

void declare_product_ahead(FragmentPage& page, const Product& product) {
  if (product.rows.computed) declare_operands(page, product);
  if (product.promoted > 0) declare_partial_sums(page, product);
  if (product.rows.computed || product.promoted > 0) page.products.ahead.insert(product.compute);
}

void prepare_product(FragmentStatements& statements, const Product& product) {
  auto& page = statements.page();
  const auto from = page.from(*product.compute);
  statements.begin(*product.compute);
  if (product.rows.computed) pack_operands(statements, product);
  if (product.promoted == 0) return;
  page.products.ahead.contains(product.compute) ? clear_partial_sums(page, product)
                                                : declare_partial_sums(page, product);
}

void run_product(FragmentStatements& statements, const Product& product) {
  auto& page = statements.page();
  const auto from = page.from(*product.compute);
  const bool lasts = page.warps.lasts(product.compute);
  if (!lasts) hold_sums(page, product);
  page.out.line("napkin_warpgroup_fence();");
  issue_product(statements, product);
  page.out.line("napkin_warpgroup_commit();");
  page.out.line("napkin_warpgroup_wait<{}>();", lasts ? 1 : 0);
  if (lasts) return statements.round(*product.compute);
  finish_product(statements, product);
}

void issue_product(FragmentStatements& statements, const Product& product) {
  auto& page = statements.page();
  const auto from = page.from(*product.compute);
  const auto& grid = page.warps.columns.at(product.compute);
  const bool packed = product.rows.computed;
  const auto across = [](const Operand& side) { return side.transposed ? 1 : 0; };
  const auto first = first_operand(page, product);
  page.loop(page.lanes.step, product.steps);
  page.loop(page.lanes.row, grid.row_tiles);
  page.out.line("{}<{}{}>({}[{}][0], {}, {});",
                function_name(*product.instruction, grid.column_tiles * product.instruction->n, packed),
                packed ? "" : fmt::format("{}, ", across(product.rows)), across(product.columns),
                accumulators(page, product), page.lanes.row, first, operand_in_tile(page, {product, false}));
  page.out.close(1);
  if (product.promoted > 0 && product.steps > product.promoted) promote_between(statements, product);
  page.out.close(1);
}

void finish_product(FragmentStatements& statements, const Product& product) {
  const auto from = statements.page().from(*product.compute);
  hold_sums(statements.page(), product);
  promote(statements, product);
  statements.round(*product.compute);
}

void hold_sums(FragmentPage& page, const Product& product) {
  const auto from = page.from(*product.compute);
  page.out.line("napkin_warpgroup_hold<{}>({}[0][0]);", page.warps.arrays.at(product.compute->to).values(),
                accumulators(page, product));
}

}  // namespace napkin
