// Prints a tile scheduler: persistent blocks loop over tile numbers, and each number is decoded in the scheduler's
// order.
#include "emit/cuda/grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace napkin {

void GridPrinter::words() const {
  const auto order = texts_of(scheduler_.order, [&](WireId wire) { return page_.diagram.at(wire).name; });
  const auto* text = scheduler_.persistent
                         ? "Persistent: only as many blocks are launched as run at once, and each takes tile after tile"
                         : "One block for each tile of the grid, because masks make some tiles longer than others";
  page_.out.line("//   {}", text);
  if (scheduler_.cluster > 1)
    page_.out.line("//   in clusters of {} along {}, whose blocks multicast the tiles that they share",
                   scheduler_.cluster, page_.diagram.at(*scheduler_.along).name);
  if (!scheduler_.alone_because.empty())
    page_.out.line("//   without the clusters of the plan, because {}", scheduler_.alone_because);
  if (order.empty()) return;
  const auto by = scheduler_.by > 1
                      ? fmt::format(", {} of {} for each {}", scheduler_.by, order[order.size() - 2], order.back())
                      : std::string();
  page_.out.line("//   in the order {}, last fastest{}", fmt::join(order, ", "), by);
}

void GridPrinter::begin() {
  blocks_ = groups_.enter(true);
  // The last cluster along a group may contain blocks past the group's end.
  if (scheduler_.along) page_.own[scheduler_.along->index].by_thread = true;
  if (scheduler_.persistent) {
    if (scheduler_.cluster > 1)
      page_.out.declare(std::string(GroupPrinter::rank), fmt::format("(int)(blockIdx.x % {})", scheduler_.cluster),
                        "in the cluster");
    all_ = page_.pool.fresh("pieces_of_grid");
    page_.out.line("const long long {} = {};", all_, grid_size(page_.kernel, page_.names, scheduler_));
  } else if (!blocks_.empty()) {
    groups_.take_apart(blocks_, scheduler_);
  }
}

void GridPrinter::open() {
  if (!scheduler_.persistent) return;
  const auto piece = page_.pool.fresh("piece");
  const auto part = scheduler_.cluster > 1 ? fmt::format(" / {}", scheduler_.cluster) : std::string();
  page_.out.open("for (long long {0} = blockIdx.x{2}; {0} < {1}; {0} += gridDim.x{2})", piece, all_, part);
  groups_.take_apart(blocks_, scheduler_, piece);
}

void GridPrinter::close() {
  if (scheduler_.persistent) page_.out.close();
}

}  // namespace napkin
