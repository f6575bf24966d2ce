// A walk printed: blocks that stay loop over the numbers of their pieces, each of which is taken apart in the walk's
// order.
#include "emit/cuda/grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace napkin {

void GridPrinter::words() const {
  std::vector<std::string> order;
  for (const auto wire : walk_.order) order.push_back(page_.diagram.at(wire).name);
  const auto* text = walk_.stays
                         ? "Persistent: only as many blocks are launched as run at once, and each takes tile after tile"
                         : "One block for each tile of the grid, because masks make some tiles longer than others";
  page_.out.line(fmt::format("//   {}", text));
  if (walk_.cluster > 1)
    page_.out.line(fmt::format("//   in clusters of {} along {}, whose blocks multicast the tiles that they share",
                               walk_.cluster, page_.diagram.at(*walk_.along).name));
  if (!walk_.alone_because.empty())
    page_.out.line(fmt::format("//   without the clusters of the plan, because {}", walk_.alone_because));
  if (order.empty()) return;
  const auto by = walk_.by > 1 ? fmt::format(", {} of {} for each {}", walk_.by, order[order.size() - 2], order.back())
                               : std::string();
  page_.out.line(fmt::format("//   in the order {}, last fastest{}", fmt::join(order, ", "), by));
}

void GridPrinter::begin() {
  blocks_ = groups_.enter(true);
  // The last cluster along a group may have blocks past its end.
  if (walk_.along) page_.own[walk_.along->index].by_thread = true;
  if (walk_.stays) {
    if (walk_.cluster > 1)
      page_.out.declare(std::string(GroupPrinter::rank), fmt::format("(int)(blockIdx.x % {})", walk_.cluster),
                        "in the cluster");
    all_ = page_.pool.fresh("pieces_of_grid");
    page_.out.line(fmt::format("const long long {} = {};", all_, groups_.all(blocks_, walk_)));
  } else if (!blocks_.empty()) {
    page_.out.line("long long block = blockIdx.x + (long long)blockIdx.y * gridDim.x;");
    groups_.take_apart(blocks_, walk_, "return");
  }
}

void GridPrinter::open() {
  if (!walk_.stays) return;
  const auto piece = page_.pool.fresh("piece");
  const auto part = walk_.cluster > 1 ? fmt::format(" / {}", walk_.cluster) : std::string();
  page_.out.open(fmt::format("for (long long {0} = blockIdx.x{2}; {0} < {1}; {0} += gridDim.x{2})", piece, all_, part));
  page_.out.line(fmt::format("long long block = {};", piece));
  groups_.take_apart(blocks_, walk_, "continue");
}

void GridPrinter::close() {
  if (walk_.stays) page_.out.close();
}

}  // namespace napkin
