// The table of charts: what `--plot` takes and what a report shows, in this order.
#include <algorithm>

#include "chart/kinds.hpp"

namespace napkin {
namespace {

constexpr ChartKind kinds[] = {
    {"transfers", "What moves",
     "From the outermost memory on the left to the units on the right. A band is as high as the bytes that cross "
     "there: its dark part crosses once, the light part again and again.",
     chart::transfers},
    {"roofline", "Operations against transfers",
     "A kernel has a dot for each memory that it reads: its operations for each byte that comes from there, and its "
     "operations in a second. A dot is in the colour of the slope that it cannot pass, unless blocks share what one of "
     "them reads.",
     chart::roofline},
    {"memory", "What memory holds",
     "Every array of the moment at which most is held, one after another. The heavy line is the room that there is.",
     chart::memory},
    {"time", "Where the time goes",
     "Memories and units work side by side, so the longest bar bounds the kernel, unless blocks share what one of them "
     "reads. A tick is the time at the rates of the datasheet, without a cache. The second picture of a kernel adds up "
     "what the launch takes.",
     chart::time},
    {"timeline", "One step of the stream",
     "What each unit does while a team takes one piece of the stream; of teams that take turns, what each of them does "
     "meanwhile. A dotted line is a wait: what follows needs what ends there, or its turn. Hatched: the unit has "
     "nothing "
     "to do for this team.",
     chart::timeline},
    {"loops", "The loops",
     "The pseudocode from left to right, one column a step, inside the frames of its groups and streams. A bar is a "
     "variable while it is held, with a dot where it is written and a stroke where it is read.",
     chart::loops},
    {"neighbours", "Other pieces",
     "How fast the kernel is with a piece of the next size up or down, against the pieces that were chosen; a tick is "
     "the speed of its steps alone, for each operation. A bar that falls far short says that the choice stands at an "
     "edge.",
     chart::neighbours},
    {"pieces", "The ground around the pieces",
     "The time with other pieces at the core's level, of the two axes that change it most. Where a cell beside the "
     "framed one is much slower, the choice stands on a cliff.",
     chart::pieces, true},
    {"front", "Trades",
     "Every point is a partition that no other one beats in time, memory and transfers at once. Down and to the left "
     "is "
     "better.",
     chart::front, true},
    {"rooms", "Transfers by room",
     "What the best partition moves where its memory has so much room, above what no program goes below. Where the "
     "curve falls steeply, more memory is worth having.",
     chart::rooms, true},
    {"machine", "Other machines",
     "What twice the room, twice the bandwidth or twice the rate of one part would gain, with all else as it is.",
     chart::machine, true},
};

}  // namespace

namespace chart {

std::string kernel_name(const ChartedKernel& one) {
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
