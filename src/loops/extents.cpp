// Sets the extents of buffers from the sizes of the groups and loops around them.
#include "loops/extents.hpp"

#include <algorithm>
#include <numeric>

#include "diagram/checked.hpp"

namespace napkin {
namespace {

class Measuring {
 public:
  explicit Measuring(LoopNest& nest) : nest_(nest) {}

  void run(const LoopBody& block) {
    for (const auto id : block.buffers) measure(nest_.buffers[id.index]);
    for (const auto& step : block.steps)
      if (const auto* loop = std::get_if<For>(&step.node)) {
        loops_.push_back(&loop->split);
        run(loop->body);
        loops_.pop_back();
      }
  }

 private:
  void measure(Buffer& buffer) {
    buffer.extent.clear();
    for (const auto& index : buffer.at) buffer.extent.push_back(extent(index, buffer.level));
  }

  // Returns the longest footprint of whole pieces, wherever they begin. Incomplete pieces lie inside it. The size of
  // the array is not used, because the array may be longer than planned.
  std::int64_t extent(const Index& index, std::size_t level) const {
    std::int64_t first = index.offset, span = 0, apart = index.divisor;
    for (const auto& [wire, coefficient] : index.terms) {
      const auto reach = coefficient * (length(wire, level) - 1);
      if (coefficient < 0) first += reach;
      span += std::abs(reach);
      if (apart > 1) apart = std::gcd(apart, coefficient * begins(wire, level));
    }
    // Footprints begin at all offsets within a step that are multiples of this distance. The last one reaches furthest.
    const auto rest = first - floor_divide(first, apart) * apart;
    return (index.divisor - apart + rest + span) / index.divisor + 1;
  }

  // The piece of a wire that the loops down to a level leave inside a body: its length, and a number of which the
  // positions where pieces begin are multiples.
  std::int64_t length(WireId wire, std::size_t level) const {
    auto all = nest_.scratch.size(wire).value_or(0);
    each_split(wire, level, [&](std::int64_t size) { all = std::min(all, size); });
    return all;
  }
  std::int64_t begins(WireId wire, std::size_t level) const {
    std::int64_t all = 0;
    each_split(wire, level, [&](std::int64_t size) { all = std::gcd(all, size); });
    return all;
  }
  template <class Visit>
  void each_split(WireId wire, std::size_t level, const Visit& visit) const {
    const auto take = [&](const Split& split) {
      if (split.wire == wire && split.level <= level) visit(split.size);
    };
    for (const auto& group : nest_.groups) take(group);
    for (const auto* loop : loops_) take(*loop);
  }

  LoopNest& nest_;
  std::vector<const Split*> loops_;
};

void resize(Split& split, const Partition& partition) {
  const auto same = std::ranges::find_if(partition.splits, [&](const Split& other) {
    return other.kind == split.kind && other.wire == split.wire && other.level == split.level;
  });
  if (same != partition.splits.end()) split.size = same->size;
}

void resize(LoopBody& block, const Partition& partition) {
  for (auto& step : block.steps)
    if (auto* loop = std::get_if<For>(&step.node)) {
      resize(loop->split, partition);
      resize(loop->body, partition);
    }
}

}  // namespace

void set_extents(LoopNest& nest) { Measuring(nest).run(nest.body); }

std::optional<WireId> held_across(const LoopNest& nest, BufferId id, const Lengths& lengths) {
  const auto& buffer = nest.at(id);
  const auto& wires = nest.scratch.at(buffer.array).wires;
  for (std::size_t k = 0; k < wires.size(); ++k)
    if (buffer.extent[k] > lengths[wires[k].index]) return wires[k];
  return std::nullopt;
}

void resize(LoopNest& nest, const Partition& partition) {
  for (auto& group : nest.groups) resize(group, partition);
  resize(nest.body, partition);
  set_extents(nest);
}

}  // namespace napkin
