// Pieces as the fragments of matrix instructions want them: a plan's pieces are of any length, fragments are not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "napkin/instructions.hpp"
#include "napkin/partition.hpp"

namespace napkin {

// What does not fit, and what would mend it.
struct Infeasible {
  std::string reason;
  std::vector<WireId> shorten{};    // the first of them whose piece can be shorter by a fragment, else with a warp less
  std::vector<WireId> whole{};      // streams of them are left out
  std::vector<WireId> fewer{};      // a block of one warp less along the first that has several
  std::optional<WireId> divided{};  // to warpgroups, and no other wire to warps
  std::int64_t rows_of_warp = 0;    // then, where they share out a block's
  bool by_warps = true;             // fewer of them leave more room for each
  bool may_grow = false;            // its piece may become a warpgroup's
  std::vector<Split> single{};      // pieces of one position, in place of those there are
};

constexpr int warpgroup_warps = warpgroup_warps;

// Pieces of 16 and more, rounded down to multiples of 16; a warp's piece then divides that of its block.
void align(Partition&, std::size_t leaf);
// Pieces of a wire that are split again become multiples of the pieces inside, so that only the last piece of an axis
// is ragged.
void nest_pieces(Partition&, std::size_t leaf);
// Changes the partition so that it fits rather; false where nothing is left to change. Warps stay in warpgroups of so
// many, and `spreads`: more of them share out the same rows before pieces become shorter. Whether it is legal then is
// not asked.
bool repair(Partition&, const Infeasible&, const Diagram&, std::size_t leaf, int warpgroup, bool spreads);

}  // namespace napkin
