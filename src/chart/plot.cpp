// The table of charts: the names that `--plot` accepts and the charts of a report, in this order.
#include <algorithm>

#include "chart/kinds.hpp"

namespace napkin {
namespace {

constexpr ChartKind kinds[] = {
    {"transfers", "Transfers",
     "The outermost memory is on the left, the units are on the right. The height of a band is the bytes that cross: "
     "the dark part crosses once, the light part is loaded again.",
     chart::transfers},
    {"roofline", "Roofline",
     "A kernel has a dot for each memory that it reads: across, its operations per byte from there; up, its operations "
     "per second. A dot has the colour of the slope that it cannot pass, unless blocks share what one of them reads.",
     chart::roofline},
    {"memory", "Memory",
     "The bar shows the arrays that the memory holds when it is fullest. The heavy line is its capacity.",
     chart::memory},
    {"time", "Where the time goes",
     "Memories and units work in parallel, so the longest bar bounds the kernel, unless blocks share what one of them "
     "reads. A tick is the time at datasheet rates, without a cache. The second picture of a kernel adds up the time "
     "of "
     "the launch.",
     chart::time},
    {"timeline", "One iteration of the stream",
     "The rows show what each unit does during one iteration of a warpgroup, or of every warpgroup in ping-pong. At a "
     "dotted line an operation waits for a result or for its turn. A unit is idle for the warpgroup where it is "
     "hatched.",
     chart::timeline},
    {"loops", "The loops",
     "The pseudocode runs from left to right, one column per line, inside the frames of its groups and streams. A bar "
     "is a variable while it is held; a dot marks a write and a stroke a read.",
     chart::loops},
    {"neighbours", "Other tile sizes",
     "A bar is the speed with the next tile size up or down, relative to the chosen one. A tick is the speed of its "
     "iterations alone, per operation. A short bar means that the chosen size is close to a cliff.",
     chart::neighbours},
    {"pieces", "Time by tile sizes",
     "The map shows the time by the tile sizes of a block, for the two axes that change it most. If a cell beside the "
     "framed one is much slower, the chosen tile is close to a cliff.",
     chart::pieces, true},
    {"front", "Trade-offs",
     "A point is a partition that no other one beats in time, memory and transfers at once. Points further down and to "
     "the left are better.",
     chart::front, true},
    {"rooms", "Transfers by capacity",
     "The curve is what the best partition moves with that capacity; every program moves at least the lower line. More "
     "memory pays off where the curve is steep.",
     chart::rooms, true},
    {"machine", "Other machines",
     "A bar is the gain from twice the capacity, bandwidth or rate of one part of the machine.", chart::machine, true},
};

}  // namespace

namespace chart {

std::string kernel_name(const ChartedKernel& one) {
  if (!one.name.empty()) return one.name;
  std::string names;
  const auto& derivation = *one.kernel.derivation;
  for (const auto id : derivation.statements)
    names += (names.empty() ? "" : ", ") + derivation.scratch.at(derivation.scratch.at(id).output).name;
  return names;
}

}  // namespace chart

std::span<const ChartKind> chart_kinds() { return kinds; }

std::optional<Chart> plot(std::string_view name, const Charted& charted) {
  const auto found = std::ranges::find(kinds, name, &ChartKind::name);
  return found == std::end(kinds) ? std::nullopt : found->plot(charted);
}

Chart plot(std::span<const Predicted> all) { return chart::predictions(all); }

}  // namespace napkin
