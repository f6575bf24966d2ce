// Fitting pieces to fragments, one small change after another.
#include "distribute/fit.hpp"

#include <algorithm>

namespace napkin {
namespace {

constexpr std::int64_t fragment = 16, panel = 64;

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

// Where teams read panels, long pieces are shortened by panels.
bool shorten(Partition& partition, WireId wire, std::size_t leaf, int team) {
  auto* warps = find(partition, wire, true, leaf);
  auto* block = find(partition, wire, false, leaf);
  auto* piece = warps ? warps : block;
  if (!piece || piece->size <= fragment) return false;
  const auto parts = warps && block ? std::max<std::int64_t>(block->size / warps->size, 1) : 1;
  const auto step = team > 1 && piece->size > panel ? panel : fragment;
  piece->size = (piece->size - 1) / step * step;
  if (warps && block) block->size = piece->size * parts;
  return true;
}

// A block of one warp, or team, less.
bool take_warp(Partition& partition, WireId wire, std::size_t leaf, int team) {
  auto* warps = find(partition, wire, true, leaf);
  auto* block = find(partition, wire, false, leaf);
  if (!warps || !block || block->size <= warps->size * team) return false;
  block->size = (block->size - 1) / (warps->size * team) * warps->size * team;
  return true;
}

// Sixteen rows to each warp of the block, whose teams are full. A piece of half a team's rows is left to warps.
bool deal(Partition& partition, WireId wire, std::size_t leaf, int team) {
  auto* block = find(partition, wire, false, leaf);
  const auto rows = fragment * team;
  if (!block || block->kind == SplitKind::stream || block->size * 2 <= rows) return false;
  block->size = std::max(block->size / rows, std::int64_t{1}) * rows;
  std::erase_if(partition.splits, [&](const Split& s) { return s.level == leaf; });
  partition.splits.push_back({SplitKind::group, wire, fragment, leaf});
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
      if (inner->wire == outer->wire && inner->level != leaf)
        outer->size = (outer->size + inner->size - 1) / inner->size * inner->size;
}

bool mend(Partition& partition, const Misfit& misfit, std::size_t leaf, int team) {
  if (misfit.dealt) return deal(partition, *misfit.dealt, leaf, team);
  for (const auto wire : misfit.whole)
    if (leave_out(partition, wire)) return true;
  const auto any = [&](const std::vector<WireId>& wires, auto change) {
    return std::any_of(wires.begin(), wires.end(), [&](WireId wire) { return change(partition, wire, leaf, team); });
  };
  return any(misfit.shorten, shorten) || any(misfit.shorten, take_warp) || any(misfit.fewer, take_warp);
}

}  // namespace napkin
