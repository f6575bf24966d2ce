// A walk printed: blocks that stay loop over the numbers of their pieces, each of which is taken apart in the walk's
// order.
#include "emit/cuda_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace napkin {

void GridPrinter::words() const {
  std::vector<std::string> order;
  for (const auto wire : walk_.order) order.push_back(page_.diagram.at(wire).name);
  const auto* text = walk_.stays ? "As many blocks as run at once take one piece of the grid after another"
                                 : "Every piece of the grid has a block, for masks make some longer than others";
  page_.out.line(fmt::format("//   {}", text));
  if (order.empty()) return;
  const auto by = walk_.by > 1 ? fmt::format(", {} of {} for each {}", walk_.by, order[order.size() - 2], order.back())
                               : std::string();
  page_.out.line(fmt::format("//   in the order {}, last fastest{}", fmt::join(order, ", "), by));
}

void GridPrinter::begin() {
  blocks_ = groups_.enter(true);
  if (walk_.stays) {
    all_ = page_.pool.fresh("pieces_of_grid");
    page_.out.line(fmt::format("const long long {} = {};", all_, groups_.all(blocks_)));
  } else if (!blocks_.empty()) {
    page_.out.line("long long block = blockIdx.x + (long long)blockIdx.y * gridDim.x;");
    groups_.take_apart(blocks_, walk_, "return");
  }
}

void GridPrinter::open() {
  if (!walk_.stays) return;
  const auto piece = page_.pool.fresh("piece");
  page_.out.open(fmt::format("for (long long {0} = blockIdx.x; {0} < {1}; {0} += gridDim.x)", piece, all_));
  page_.out.line(fmt::format("long long block = {};", piece));
  groups_.take_apart(blocks_, walk_, "continue");
}

void GridPrinter::close() {
  if (walk_.stays) page_.out.close();
}

}  // namespace napkin
