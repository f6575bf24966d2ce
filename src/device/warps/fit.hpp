// A plan has pieces of any length, and fragments of matrix instructions need multiples of 16. A partition is fitted by
// small changes, until all phases accept it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "napkin/instructions.hpp"
#include "napkin/partition.hpp"

namespace napkin {

// Why a phase cannot take the partition, and which changes would mend that.
struct Infeasible {
  std::string reason;
  std::vector<WireId> shorten{};      // by a fragment, the first wire that can be; else a block gets a warp less
  std::vector<WireId> unstreamed{};   // the streams of these wires are left out
  std::vector<WireId> fewer_warps{};  // a block gets a warp less along the first that has several
  std::optional<WireId> divided{};    // among warpgroups, and no other wire is split between warps
  std::int64_t rows_of_warp = 0;      // of the divided wire, if they divide the rows of a block evenly
  bool may_grow = false;              // the piece of the divided wire, to that of a warpgroup
  bool by_warps = true;               // a block of fewer warps leaves more for each
  std::vector<Split> single{};        // pieces of one position, which replace the present ones
};

template <class... Args>
Infeasible infeasible(fmt::format_string<Args...> reason, Args&&... args) {
  return {fmt::format(reason, std::forward<Args>(args)...)};
}

// The innermost split of a wire between warps, or that of blocks; null if there is none.
template <class AnyPartition>
auto* find_split(AnyPartition& partition, WireId wire, bool of_warps, std::size_t leaf) {
  auto& splits = partition.splits;
  const auto found = std::find_if(splits.rbegin(), splits.rend(),
                                  [&](const Split& s) { return s.wire == wire && (s.level == leaf) == of_warps; });
  return found == splits.rend() ? nullptr : &*found;
}

// Pieces longer than 16 become multiples of 16, and the piece of a warp divides that of its block.
void align(Partition&, std::size_t leaf);
// Pieces that are split again become multiples of the pieces inside, so that only the last piece of an axis is ragged.
void nest_pieces(Partition&, std::size_t leaf);
// Makes one change that brings the partition closer to feasible; false if no change is left. Warps stay in groups of
// `warpgroup`. With `spreads`, more warps share the same rows before pieces become shorter. The caller checks whether
// the partition is then legal.
bool repair(Partition&, const Infeasible&, const Diagram&, std::size_t leaf, int issuing_warps, bool spreads);

}  // namespace napkin
