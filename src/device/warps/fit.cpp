// Repairs a partition so that its pieces fit fragments. Each kind of change has a function of its own.
#include "device/warps/fit.hpp"

#include <algorithm>

#include "loops/pieces.hpp"

namespace napkin {
namespace {

constexpr std::int64_t fragment = accumulator_tile.rows, panel = 64;

// The longest multiple of a fragment that divides the length, and is at most `most`.
std::int64_t divisor(std::int64_t length, std::int64_t most) {
  for (auto size = most / fragment * fragment; size > fragment; size -= fragment)
    if (length % size == 0) return size;
  return fragment;
}
// A partition that is being fitted. Its functions return the split of a wire over the warps or in the block.
struct Fitting {
  Partition& partition;
  std::size_t leaf;
  int issuing_warps;

  Split* of_warps(WireId wire) const { return find_split(partition, wire, true, leaf); }
  Split* of_block(WireId wire) const { return find_split(partition, wire, false, leaf); }
};

// Shortens the innermost piece of a wire to the next smaller multiple of a fragment. Warpgroups read panels, so that
// their pieces longer than a panel become the next smaller multiple of a panel. Pieces that are much longer than a
// block can hold lose a part at a time, or this would take as long as they are.
bool shorten(const Fitting& fitting, WireId wire) {
  auto* warps = fitting.of_warps(wire);
  auto* block = fitting.of_block(wire);
  auto* piece = warps ? warps : block;
  if (!piece || piece->size <= fragment) return false;
  const auto parts = warps && block ? std::max<std::int64_t>(block->size / warps->size, 1) : 1;
  const auto of_panels = fitting.issuing_warps > 1 && piece->size > panel ? panel : fragment;
  const auto step = std::max(of_panels, piece->size / 16 / panel * panel);
  piece->size = (piece->size - 1) / step * step;
  if (warps && block) block->size = piece->size * parts;
  return true;
}
// Removes one warp, or one warpgroup, from a block. Of more than a block can have, a part is removed at a time.
bool take_warp(const Fitting& fitting, WireId wire) {
  auto* warps = fitting.of_warps(wire);
  auto* block = fitting.of_block(wire);
  if (!warps || !block) return false;
  const auto rows = warps->size * fitting.issuing_warps, others = (block->size - 1) / rows;
  if (others < 1) return false;
  block->size = (others - others / 32) * rows;
  return true;
}
// Removes the stream over the rows of a block. If it is the outermost stream, nothing outlives its iterations, so that
// its pieces become tiles of the grid. Inside another stream, the block holds all of its rows at once.
bool unstream_rows(const Fitting& fitting, WireId wire) {
  auto& splits = fitting.partition.splits;
  const auto is_stream = [](const Split& s) { return s.kind == SplitKind::stream; };
  const auto first = std::ranges::find_if(splits, is_stream);
  const auto group = std::ranges::find_if(
      splits, [&](const Split& s) { return s.wire == wire && s.level != fitting.leaf && s.kind == SplitKind::group; });
  const auto stream = std::find_if(first, splits.end(), [&](const Split& s) { return s.wire == wire && is_stream(s); });
  if (group == splits.end() || stream == splits.end()) return false;
  if (stream == first) group->size = std::min(group->size, stream->size);
  splits.erase(stream);
  return true;
}
// Divides the rows of a block among warpgroups. Each warp gets the planned number of rows, or 16 if warpgroups would
// not be full otherwise. A piece with at most half the rows of a warpgroup is left to single warps, unless it may grow.
bool divide_rows(const Fitting& fitting, const Infeasible& why) {
  const auto wire = *why.divided;
  auto* block = fitting.of_block(wire);
  const auto rows = fragment * fitting.issuing_warps;
  if (!block) return false;
  if (block->kind == SplitKind::stream) return unstream_rows(fitting, wire);
  if (block->size * 2 <= rows && !why.may_grow) return false;
  block->size = std::max(block->size / rows, std::int64_t{1}) * rows;
  const auto of_warp = block->size % (why.rows_of_warp * fitting.issuing_warps) == 0 ? why.rows_of_warp : fragment;
  std::erase_if(fitting.partition.splits, [&](const Split& s) { return s.level == fitting.leaf; });
  fitting.partition.splits.push_back({SplitKind::group, wire, of_warp, fitting.leaf});
  return true;
}
// Lets more warpgroups, or warps, share the same rows of a block.
bool spread(const Fitting& fitting, WireId wire) {
  auto* warps = fitting.of_warps(wire);
  if (!warps || warps->size <= fragment || !fitting.of_block(wire) ||
      (fitting.issuing_warps == 1 && warps->size % (2 * fragment) != 0))
    return false;
  warps->size = fitting.issuing_warps > 1 ? fragment : warps->size / 2;
  return true;
}
// Removes a warpgroup if the rows are the longer side of the block, because a block with similar sides loads least. If
// the other side is only streamed, no warpgroup is removed and that side is shortened instead, because the bytes that a
// stream loads do not depend on the length of its tiles.
bool give_up_warpgroup(const Fitting& fitting, const std::vector<WireId>& wires) {
  if (fitting.issuing_warps == 1 || wires.size() < 2) return false;
  const auto is_rows = [&](WireId wire) { return fitting.of_warps(wire) != nullptr; };
  const auto rows = std::ranges::find_if(wires, is_rows);
  const auto other = std::ranges::find_if_not(wires, is_rows);
  if (rows == wires.end() || other == wires.end()) return false;
  const auto *along = fitting.of_block(*rows), *across = fitting.of_block(*other);
  if (!along || !across || across->kind == SplitKind::stream || along->size < across->size) return false;
  return take_warp(fitting, *rows);
}
void add(const Fitting& fitting, const Split& split) {
  const auto before = [&](const Split& s) {
    return s.level > split.level || (s.level == split.level && s.kind > split.kind);
  };
  auto& splits = fitting.partition.splits;
  splits.insert(std::ranges::find_if(splits, before), split);
}
// Splits a wire so that a block has one position of it at a time.
void take_single(const Fitting& fitting, const Split& single) {
  const auto of_warps = [&](const Split& s) { return s.wire == single.wire && s.level == fitting.leaf; };
  std::erase_if(fitting.partition.splits, of_warps);
  if (auto* block = fitting.of_block(single.wire))
    block->size = 1;
  else
    add(fitting, single);
}
// Splits a wire that no block splits into two halves.
bool halve(const Fitting& fitting, WireId wire, const Diagram& diagram) {
  const auto half = (diagram.size(wire).value_or(1) + 1) / 2;
  if (fitting.of_block(wire) || fitting.of_warps(wire) || half <= fragment) return false;
  add(fitting, {SplitKind::group, wire, round_up(half, fragment), fitting.leaf - 1});
  return true;
}
bool unstream(const Fitting& fitting, WireId wire) {
  const auto streams = [&](const Split& s) { return s.wire == wire && s.kind == SplitKind::stream; };
  return std::erase_if(fitting.partition.splits, streams) > 0;
}

}  // namespace

void align(Partition& partition, std::size_t leaf) {
  for (auto& split : partition.splits)
    if (split.size > fragment) split.size -= split.size % fragment;
  for (auto& split : partition.splits) {
    if (split.level != leaf || split.size <= fragment) continue;
    if (const auto* block = find_split(partition, split.wire, false, leaf); block && block->size % split.size != 0)
      split.size = divisor(block->size, split.size);
  }
}
void nest_pieces(Partition& partition, std::size_t leaf) {
  auto& splits = partition.splits;
  for (auto outer = splits.rbegin(); outer != splits.rend(); ++outer)
    for (auto inner = splits.rbegin(); inner != outer; ++inner)
      if (inner->wire == outer->wire && inner->level != leaf) outer->size = round_up(outer->size, inner->size);
}
bool repair(Partition& partition, const Infeasible& why, const Diagram& diagram, std::size_t leaf, int issuing_warps,
            bool spreads) {
  const Fitting fitting{partition, leaf, issuing_warps};
  if (why.divided) return divide_rows(fitting, why);
  for (const auto& single : why.single) take_single(fitting, single);
  if (!why.single.empty()) return true;
  const auto any = [&](const std::vector<WireId>& wires, auto change) {
    return std::ranges::any_of(wires, [&](WireId wire) { return change(fitting, wire); });
  };
  // A shorter piece of a wire that only warps split means more warps as well.
  const auto shorten_block = [&](const Fitting& all, WireId wire) {
    return !(spreads && all.of_warps(wire) && !all.of_block(wire)) && shorten(all, wire);
  };
  const auto halve_wire = [&](const Fitting& all, WireId wire) { return halve(all, wire, diagram); };
  return any(why.unstreamed, unstream) || (spreads && any(why.shorten, spread)) ||
         (why.by_warps && give_up_warpgroup(fitting, why.shorten)) || any(why.shorten, shorten_block) ||
         (why.by_warps && any(why.shorten, take_warp)) || any(why.fewer_warps, take_warp) ||
         any(why.shorten, halve_wire);
}

}  // namespace napkin
