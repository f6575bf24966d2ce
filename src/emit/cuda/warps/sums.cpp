// Prints partial sums of products as arrays beside the sums.
#include "emit/cuda/warps/sums.hpp"

#include <fmt/format.h>

namespace napkin {

void SumPrinter::declare(const Product& product) {
  auto& page = statements_.page();
  const auto& grid = page.warps.arrays.at(product.compute->to);
  const auto& name = partial_[product.compute] = page.pool.fresh(page.buffer(product.compute->to) + "_part");
  page.out.line("float {}[{}][{}][{}] = {{}};  // of {} products at most, before they are added to sums in f32", name,
                grid.row_tiles, grid.column_tiles, accumulator_tile.values(),
                product.promoted * product.instruction->k);
}

void SumPrinter::clear(const Product& product) {
  auto& page = statements_.page();
  OpenFragments here;
  const int opened = open_values(page, page.warps.arrays.at(product.compute->to), here);
  page.out.line("{}[{}][{}][{}] = 0.0f;", accumulators(product), here.row, here.column, here.value);
  page.out.close(opened);
}

void SumPrinter::promote(const Product& product) {
  if (product.promoted == 0) return;
  auto& page = statements_.page();
  OpenFragments here;
  const int opened = open_values(page, page.warps.arrays.at(product.compute->to), here);
  page.out.line("{} += {}[{}][{}][{}];", statements_.slot(product.compute->to, here), accumulators(product), here.row,
                here.column, here.value);
  page.out.close(opened);
}

std::string SumPrinter::accumulators(const Product& product) const {
  return product.promoted > 0 ? partial_.at(product.compute) : statements_.page().buffer(product.compute->to);
}

}  // namespace napkin
