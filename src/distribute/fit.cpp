// Fitting pieces to fragments, one small change after another.
#include "distribute/fit.hpp"

#include <algorithm>

#include "loops/pieces.hpp"

namespace napkin {
namespace {

constexpr std::int64_t fragment = accumulator_tile.rows, panel = 64;

Split* find(Partition& partition, WireId wire, bool of_warps, std::size_t leaf) {
  auto& splits = partition.splits;
  const auto found = std::find_if(splits.rbegin(), splits.rend(),
                                  [&](const Split& s) { return s.wire == wire && (s.level == leaf) == of_warps; });
  return found == splits.rend() ? nullptr : &*found;
}

// The longest multiple of a fragment that divides the length and is no longer than `most`.
std::int64_t divisor(std::int64_t length, std::int64_t most) {
  for (auto size = most / fragment * fragment; size > fragment; size -= fragment)
    if (length % size == 0) return size;
  return fragment;
}

// Where warpgroups read panels, long pieces are shortened by panels.
bool shorten(Partition& partition, WireId wire, std::size_t leaf, int warpgroup) {
  auto* warps = find(partition, wire, true, leaf);
  auto* block = find(partition, wire, false, leaf);
  auto* piece = warps ? warps : block;
  if (!piece || piece->size <= fragment) return false;
  const auto parts = warps && block ? std::max<std::int64_t>(block->size / warps->size, 1) : 1;
  const auto step = warpgroup > 1 && piece->size > panel ? panel : fragment;
  piece->size = (piece->size - 1) / step * step;
  if (warps && block) block->size = piece->size * parts;
  return true;
}

// A block of one warp, or warpgroup, less.
bool take_warp(Partition& partition, WireId wire, std::size_t leaf, int warpgroup) {
  auto* warps = find(partition, wire, true, leaf);
  auto* block = find(partition, wire, false, leaf);
  if (!warps || !block || block->size <= warps->size * warpgroup) return false;
  block->size = (block->size - 1) / (warps->size * warpgroup) * warps->size * warpgroup;
  return true;
}

// Rows that follow one another within a piece of the grid. The pieces of the outermost stream become the grid's, for
// nothing outlives them; inside another stream all rows of the block are held at once.
bool gather(Partition& partition, WireId wire, std::size_t leaf) {
  auto& splits = partition.splits;
  const auto is_stream = [](const Split& s) { return s.kind == SplitKind::stream; };
  const auto first = std::find_if(splits.begin(), splits.end(), is_stream);
  const auto group = std::find_if(splits.begin(), splits.end(), [&](const Split& s) {
    return s.wire == wire && s.level != leaf && s.kind == SplitKind::group;
  });
  const auto stream = std::find_if(first, splits.end(), [&](const Split& s) { return s.wire == wire && is_stream(s); });
  if (group == splits.end() || stream == splits.end()) return false;
  if (stream == first) group->size = std::min(group->size, stream->size);
  splits.erase(stream);
  return true;
}

// As many rows to each warp of the block as wanted, or sixteen where warpgroups would not be full then. A piece of half
// a warpgroup's rows is left to warps, unless it may grow.
bool divide_rows(Partition& partition, const Infeasible& infeasible, std::size_t leaf, int warpgroup) {
  const auto wire = *infeasible.divided;
  auto* block = find(partition, wire, false, leaf);
  const auto rows = fragment * warpgroup;
  if (!block) return false;
  if (block->kind == SplitKind::stream) return gather(partition, wire, leaf);
  if (block->size * 2 <= rows && !infeasible.may_grow) return false;
  block->size = std::max(block->size / rows, std::int64_t{1}) * rows;
  const auto of_warp = block->size % (infeasible.rows_of_warp * warpgroup) == 0 ? infeasible.rows_of_warp : fragment;
  std::erase_if(partition.splits, [&](const Split& s) { return s.level == leaf; });
  partition.splits.push_back({SplitKind::group, wire, of_warp, leaf});
  return true;
}

// More warpgroups, or warps, share out the same rows of a block.
bool spread(Partition& partition, WireId wire, std::size_t leaf, int warpgroup) {
  auto* warps = find(partition, wire, true, leaf);
  if (!warps || warps->size <= fragment || !find(partition, wire, false, leaf) ||
      (warpgroup == 1 && warps->size % (2 * fragment) != 0))
    return false;
  warps->size = warpgroup > 1 ? fragment : warps->size / 2;
  return true;
}

// Of a block's piece that is split between warpgroups along its rows, the longer side becomes shorter: that loads
// least. Where it is only streamed along the other side, that one does, for streams load the same.
bool give_up_warpgroup(Partition& partition, const std::vector<WireId>& wires, std::size_t leaf, int warpgroup) {
  if (warpgroup == 1 || wires.size() < 2) return false;
  const auto is_rows = [&](WireId wire) { return find(partition, wire, true, leaf) != nullptr; };
  const auto rows = std::find_if(wires.begin(), wires.end(), is_rows);
  const auto other = std::find_if_not(wires.begin(), wires.end(), is_rows);
  if (rows == wires.end() || other == wires.end()) return false;
  const auto *along = find(partition, *rows, false, leaf), *across = find(partition, *other, false, leaf);
  if (!along || !across || across->kind == SplitKind::stream || along->size < across->size) return false;
  return take_warp(partition, *rows, leaf, warpgroup);
}

void add(Partition& partition, const Split& split) {
  const auto before = [&](const Split& s) {
    return s.level > split.level || (s.level == split.level && s.kind > split.kind);
  };
  partition.splits.insert(std::find_if(partition.splits.begin(), partition.splits.end(), before), split);
}

// One position after another, or side by side, of a wire that a block had more of.
void take_single(Partition& partition, const Split& single, std::size_t leaf) {
  std::erase_if(partition.splits, [&](const Split& s) { return s.wire == single.wire && s.level == leaf; });
  if (auto* block = find(partition, single.wire, false, leaf))
    block->size = 1;
  else
    add(partition, single);
}

// A wire that no block splits, in two halves side by side.
bool halve(Partition& partition, WireId wire, const Diagram& diagram, std::size_t leaf) {
  const auto half = (diagram.size(wire).value_or(1) + 1) / 2;
  if (find(partition, wire, false, leaf) || find(partition, wire, true, leaf) || half <= fragment) return false;
  add(partition, {SplitKind::group, wire, round_up(half, fragment), leaf - 1});
  return true;
}

bool leave_out(Partition& partition, WireId wire) {
  return std::erase_if(partition.splits,
                       [&](const Split& s) { return s.wire == wire && s.kind == SplitKind::stream; }) > 0;
}

}  // namespace

void align(Partition& partition, std::size_t leaf) {
  for (auto& split : partition.splits)
    if (split.size > fragment) split.size -= split.size % fragment;
  for (auto& split : partition.splits) {
    if (split.level != leaf || split.size <= fragment) continue;
    if (const auto* block = find(partition, split.wire, false, leaf); block && block->size % split.size != 0)
      split.size = divisor(block->size, split.size);
  }
}

void nest_pieces(Partition& partition, std::size_t leaf) {
  auto& splits = partition.splits;
  for (auto outer = splits.rbegin(); outer != splits.rend(); ++outer)
    for (auto inner = splits.rbegin(); inner != outer; ++inner)
      if (inner->wire == outer->wire && inner->level != leaf) outer->size = round_up(outer->size, inner->size);
}

bool repair(Partition& partition, const Infeasible& infeasible, const Diagram& diagram, std::size_t leaf, int warpgroup,
            bool spreads) {
  if (infeasible.divided) return divide_rows(partition, infeasible, leaf, warpgroup);
  for (const auto& single : infeasible.single) take_single(partition, single, leaf);
  if (!infeasible.single.empty()) return true;
  for (const auto wire : infeasible.whole)
    if (leave_out(partition, wire)) return true;
  const auto any = [&](const std::vector<WireId>& wires, auto change) {
    return std::any_of(wires.begin(), wires.end(),
                       [&](WireId wire) { return change(partition, wire, leaf, warpgroup); });
  };
  // Of a wire that is split between warps alone a shorter piece is more warps as well.
  const auto shorten_block = [&](Partition& all, WireId wire, std::size_t level, int warps) {
    const bool of_warps = find(all, wire, true, level) && !find(all, wire, false, level);
    return !(spreads && of_warps) && shorten(all, wire, level, warps);
  };
  return (spreads && any(infeasible.shorten, spread)) ||
         (infeasible.by_warps && give_up_warpgroup(partition, infeasible.shorten, leaf, warpgroup)) ||
         any(infeasible.shorten, shorten_block) || (infeasible.by_warps && any(infeasible.shorten, take_warp)) ||
         any(infeasible.fewer, take_warp) ||
         std::any_of(infeasible.shorten.begin(), infeasible.shorten.end(),
                     [&](WireId wire) { return halve(partition, wire, diagram, leaf); });
}

}  // namespace napkin
