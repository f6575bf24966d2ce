// Prints partial sums of products as arrays beside the sums.
#include "emit/cuda/warps/sums.hpp"

namespace napkin {

void declare_partial_sums(FragmentPage& page, const Product& product) {
  const auto& grid = page.warps.arrays.at(product.compute->to);
  const auto& name = page.products.partial[product.compute] =
      page.pool.fresh(page.buffer(product.compute->to) + "_part");
  page.out.line("float {}[{}][{}][{}] = {{}};  // of {} products at most, before they are added to sums in f32", name,
                grid.row_tiles, grid.column_tiles, accumulator_tile.values(),
                product.promoted * product.instruction->k);
}

void clear_partial_sums(FragmentPage& page, const Product& product) {
  OpenFragments here;
  const int opened = open_values(page, page.warps.arrays.at(product.compute->to), here);
  page.out.line("{}[{}][{}][{}] = 0.0f;", accumulators(page, product), here.row, here.column, here.value);
  page.out.close(opened);
}

void promote(FragmentStatements& statements, const Product& product) {
  if (product.promoted == 0) return;
  auto& page = statements.page();
  OpenFragments here;
  const int opened = open_values(page, page.warps.arrays.at(product.compute->to), here);
  page.out.line("{} += {}[{}][{}][{}];", statements.slot(product.compute->to, here), accumulators(page, product),
                here.row, here.column, here.value);
  page.out.close(opened);
}

std::string accumulators(const FragmentPage& page, const Product& product) {
  return product.promoted > 0 ? page.products.partial.at(product.compute) : page.buffer(product.compute->to);
}

}  // namespace napkin
