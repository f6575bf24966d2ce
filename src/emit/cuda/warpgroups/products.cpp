// Products of a warpgroup: the second operand is read in place from shared memory, the first one from shared memory or
// registers, and sums are in registers once the warpgroup has waited for them.
#include <fmt/format.h>

#include "derive/columns.hpp"
#include "emit/cuda/warps/fragments.hpp"
#include "loops/pieces.hpp"

namespace napkin {

void FragmentPrinter::warpgroup_product(const Product& product) {
  prepare(product);
  run(product);
}

void FragmentPrinter::run(const Product& product) {
  const auto from = out_.from(origin(page_.diagram, product.compute->column));
  const bool lasts = warps_.lasts(product.compute);
  if (!lasts) hold(product);
  out_.line("napkin_warpgroup_fence();");
  issue(product);
  out_.line("napkin_warpgroup_commit();");
  out_.line(fmt::format("napkin_warpgroup_wait<{}>();", lasts ? 1 : 0));
  if (lasts) return round(*product.compute);
  arrived(product);
}

void FragmentPrinter::prepare(const Product& product) {
  const auto from = out_.from(origin(page_.diagram, product.compute->column));
  begin(*product.compute);
  if (product.rows.computed) pack_rows(product);
  if (product.promoted == 0) return;
  declared_ahead_.contains(product.compute) ? begin_sums(product) : declare_sums(product);
}
void FragmentPrinter::issue(const Product& product) {
  const auto from = out_.from(origin(page_.diagram, product.compute->column));
  const auto& grid = warps_.columns.at(product.compute);
  const auto columns = grid.column_tiles * product.instruction->n;
  const bool packed = product.rows.computed;
  const auto rows = packed ? fmt::format("{}[{}][{}]", operands_.at(product.compute), lanes.row, lanes.step)
                           : warpgroup_operand(product.rows, product, true);
  const auto across = [](const Operand& side) { return side.transposed ? 1 : 0; };
  loop(lanes.step, product.steps);
  loop(lanes.row, grid.row_tiles);
  out_.line(fmt::format("{}<{}{}>({}[{}][0], {}, {});", function_name(*product.instruction, columns, packed),
                        packed ? "" : fmt::format("{}, ", across(product.rows)), across(product.columns), sums(product),
                        lanes.row, rows, warpgroup_operand(product.columns, product, false)));
  out_.close(1);
  if (product.promoted > 0 && product.steps > product.promoted) promote_between(product);
  out_.close(1);
}
void FragmentPrinter::arrived(const Product& product) {
  const auto from = out_.from(origin(page_.diagram, product.compute->column));
  hold(product);
  promote(product);
  round(*product.compute);
}

void FragmentPrinter::hold(const Product& product) {
  const auto from = out_.from(origin(page_.diagram, product.compute->column));
  out_.line(fmt::format("napkin_warpgroup_hold<{}>({}[0][0]);", warps_.arrays.at(product.compute->to).values(),
                        sums(product)));
}

// Within a product that is long enough for its sums to be promoted on the way.
void FragmentPrinter::promote_between(const Product& product) {
  out_.open(fmt::format("if ({0} % {1} == {1} - 1 && {0} + 1 < {2})", lanes.step, product.promoted, product.steps));
  out_.line("napkin_warpgroup_commit();");
  out_.line("napkin_warpgroup_wait<0>();");
  hold(product);
  promote(product);
  begin_sums(product);
  out_.line("napkin_warpgroup_fence();");
  out_.close();
}

// Packs values that the warpgroup computed as operands of all steps at once: they stay unchanged until the products are
// done.
void FragmentPrinter::pack_rows(const Product& product) {
  if (!declared_ahead_.contains(product.compute)) declare_operands(product);
  loop(lanes.step, product.steps);
  loop(lanes.row, warps_.columns.at(product.compute).row_tiles);
  pack(product, true, fmt::format("{}[{}][{}]", operands_.at(product.compute), lanes.row, lanes.step));
  out_.close(2);
}
void FragmentPrinter::declare_operands(const Product& product) {
  const auto& name = operands_[product.compute] = page_.pool.fresh("a");
  out_.line(fmt::format("unsigned {}[{}][{}][{}];", name, warps_.columns.at(product.compute).row_tiles, product.steps,
                        product.instruction->a.registers));
}
// Declares registers outside of the loop in whose iterations they are filled.
void FragmentPrinter::operands(const Product& product) {
  if (product.rows.computed) declare_operands(product);
  if (product.promoted > 0) declare_sums(product);
  if (product.rows.computed || product.promoted > 0) declared_ahead_.insert(product.compute);
}

// "napkin_operand<1, 8192, 1024>(K_tile + ...)", the rows or columns of a step, at unswizzled places, because the
// hardware swizzles chunks by the bits of their addresses. If the tile is contracted along memory, a step follows the
// one before within a panel; otherwise it lies `k` rows below.
std::string FragmentPrinter::warpgroup_operand(const Operand& side, const Product& product, bool rows) {
  const auto& layout = warps_.tiles.at(side.buffer).layout;
  const auto [leading, stride, swizzle] = operand_place(layout);
  const auto wire = rows ? *warps_.columns.at(product.compute).rows : *warps_.columns.at(product.compute).columns;
  const auto& own = page_.own[wire.index];
  const auto& base = page_.scope.at(side.buffer)[wire.index].begin;
  if (own.is_whole()) page_.limit(wire);
  if (page_.own[product.over.index].is_whole()) page_.limit(product.over);
  const auto panel = layout.panel, panel_size = layout.rows * layout.panel, k = product.instruction->k;
  auto first = own.begin == base ? ""
               : base == "0"     ? fmt::format("{0} / {1}", own.begin, product.instruction->m)
                                 : fmt::format("({} - {}) / {}", own.begin, base, product.instruction->m);
  if (rows && warps_.columns.at(product.compute).row_tiles > 1)
    first = first.empty() ? lanes.row : fmt::format("({} + {})", first, lanes.row);
  // The distance from one warpgroup's rows to the next one's.
  const auto step_of_warpgroups =
      side.transposed ? product.instruction->m / panel * panel_size : product.instruction->m * panel;
  const auto step = side.transposed ? fmt::format("{} * {}", lanes.step, k * panel)
                    : panel == k
                        ? fmt::format("{} * {}", lanes.step, panel_size)
                        : fmt::format("{0} / {1} * {2} + {0} % {1} * {3}", lanes.step, panel / k, panel_size, k);
  const auto place = first.empty() ? step : fmt::format("{} * {} + {}", first, step_of_warpgroups, step);
  return fmt::format("napkin_operand<{}, {}, {}>({} + {})", swizzle, leading, stride, tile_pointer(page_, side.buffer),
                     place);
}

}  // namespace napkin
