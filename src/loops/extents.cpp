// Sizes of groups and loops -> extents of the buffers inside them.
#include "loops/extents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace napkin {
namespace {

// The piece of a wire that the loops down to a level leave inside a body: how long, and a number of which the places
// where one begins are multiples.
struct Piece {
  std::int64_t length = 0, begins = 0;
};
using Pieces = std::vector<Piece>;  // by WireId

// Whether no piece touches more steps of a divided index than it must: each begins with a step, or a step holds
// several whole ones.
bool lies_in_steps(const Index& index, const Pieces& wires) {
  if (index.terms.empty()) return true;
  if (index.terms.size() != 1 || index.offset % index.divisor != 0) return false;
  const auto& [wire, coefficient] = index.terms[0];
  const auto& [length, begins] = wires[wire.index];
  if (coefficient * begins % index.divisor == 0) return true;
  return length == begins && coefficient > 0 && index.divisor % (coefficient * length) == 0;
}

// The longest footprint of whole pieces, wherever they begin.
std::int64_t extent(const Index& index, const Pieces& wires, std::int64_t array_size) {
  std::int64_t span = 0;
  for (const auto& [wire, coefficient] : index.terms) span += std::abs(coefficient) * (wires[wire.index].length - 1);
  const bool may_straddle = index.divisor > 1 && !lies_in_steps(index, wires);
  return std::clamp<std::int64_t>(span / index.divisor + (may_straddle ? 2 : 1), 1, array_size);
}

class Measuring {
 public:
  explicit Measuring(LoopNest& nest) : nest_(nest) {
    for (const auto& wire : nest.scratch.wires) whole_.push_back({nest.scratch.at(wire.axis).size.value_or(0), 0});
  }

  void run(const Block& block) {
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
    pieces_ = whole_;
    const bool divided = std::ranges::any_of(buffer.at, [](const Index& index) { return index.divisor > 1; });
    const auto shrink = [&](const Split& split) {
      auto& piece = pieces_[split.wire.index];
      if (split.level > buffer.level) return;
      piece.length = std::min(piece.length, split.size);
      if (divided) piece.begins = std::gcd(piece.begins, split.size);
    };
    for (const auto& group : nest_.groups) shrink(group);
    for (const auto* loop : loops_) shrink(*loop);
    const auto& wires = nest_.scratch.at(buffer.array).wires;
    buffer.extent.resize(buffer.at.size());
    for (std::size_t i = 0; i < buffer.at.size(); ++i)
      buffer.extent[i] = extent(buffer.at[i], pieces_, axis_size(wires[i]));
  }
  std::int64_t axis_size(WireId wire) const {
    if (const auto size = nest_.scratch.size(wire)) return *size;
    throw std::logic_error(fmt::format("axis of wire `{}` has no size", nest_.scratch.at(wire).name));
  }

  LoopNest& nest_;
  Pieces whole_, pieces_;
  std::vector<const Split*> loops_;
};

void resize(Split& split, const Partition& partition) {
  const auto same = std::ranges::find_if(partition.splits, [&](const Split& other) {
    return other.kind == split.kind && other.wire == split.wire && other.level == split.level;
  });
  if (same != partition.splits.end()) split.size = same->size;
}

void resize(Block& block, const Partition& partition) {
  for (auto& step : block.steps)
    if (auto* loop = std::get_if<For>(&step.node)) {
      resize(loop->split, partition);
      resize(loop->body, partition);
    }
}

}  // namespace

void set_extents(LoopNest& nest) { Measuring(nest).run(nest.body); }

void resize(LoopNest& nest, const Partition& partition) {
  for (auto& group : nest.groups) resize(group, partition);
  resize(nest.body, partition);
  set_extents(nest);
}

}  // namespace napkin
