// Chooses for every column the innermost loop along which most of the arrays that it reads and writes are contiguous.
// Tiles are copied anyway, so that the first column that reads a tile decides its layout. Computed arrays have the
// layout in which they are declared.
#include "device/cpu/layout.hpp"

#include <algorithm>

#include "diagram/contains.hpp"
#include "loops/pieces.hpp"
#include "loops/walk.hpp"

namespace napkin {
namespace {

// True if one step along the wire is one step of the index.
bool follows(const Index& index, WireId wire) {
  return index.divisor == 1 && std::ranges::count(index.terms, std::pair<WireId, std::int64_t>{wire, 1}) > 0;
}

class Chooser {
 public:
  explicit Chooser(const LoopNest& nest) : nest_(nest), diagram_(nest.scratch), sources_(tile_sources(nest)) {}

  CpuLayout run() {
    each_step(nest_.body, lengths_in_groups(nest_),
              [&](const LoopStatement& step, const LoopBody&, const Lengths& extents) {
                if (const auto* compute = std::get_if<Compute>(&step.node)) choose(*compute, extents);
              });
    return std::move(layout_);
  }

 private:
  void choose(const Compute& compute, const Lengths& extents) {
    Lanes best;
    int least = 0;
    const auto consider = [&](WireId wire, bool folded) {
      if (extents[wire.index] == 1) return;
      const int cost = 2 * scattered(compute, wire) + (folded ? 1 : 0);
      if (best.wire && cost >= least) return;
      best = {wire, folded};
      least = cost;
    };
    const auto& kept = diagram_.at(compute.column.output).wires;
    for (auto wire = kept.rbegin(); wire != kept.rend(); ++wire) consider(*wire, false);
    for (const auto wire : compute.column.over) consider(wire, true);
    layout_.lanes[&compute] = best;
    if (best.wire) settle(compute, *best.wire);
  }

  // Counts the arrays that are not contiguous along the wire.
  int scattered(const Compute& compute, WireId wire) {
    int count = 0;
    const auto& wires = diagram_.at(compute.column.output).wires;
    if (contains(wires, wire) && wires.back() != wire) ++count;
    for (const auto& [expr, id] : compute.reads) count += scattered(access(diagram_, expr), id, wire) ? 1 : 0;
    return count;
  }
  bool scattered(const Access& access, BufferId id, WireId wire) {
    const auto moving = std::ranges::count_if(access.at, [&](const Index& index) { return moves(index, wire); });
    if (moving != 1) return moving > 1;
    if (!nest_.is_input(id)) return !follows(access.at.back(), wire);
    const auto settled = layout_.fastest.find(outermost_tile(sources_, id));
    if (settled != layout_.fastest.end()) return !follows(access.at[settled->second], wire);
    return std::ranges::none_of(access.at, [&](const Index& i) { return follows(i, wire); });
  }

  void settle(const Compute& compute, WireId wire) {
    for (const auto& [expr, id] : compute.reads) {
      if (!nest_.is_input(id)) continue;
      const auto& at = access(diagram_, expr).at;
      for (std::size_t i = 0; i < at.size(); ++i)
        if (follows(at[i], wire)) layout_.fastest.try_emplace(outermost_tile(sources_, id), i);
    }
  }

  const LoopNest& nest_;
  const Diagram& diagram_;
  TileSources sources_;
  CpuLayout layout_;
};

}  // namespace

CpuLayout cpu_layout(const LoopNest& nest) { return Chooser(nest).run(); }

}  // namespace napkin
