// What nobody states of a machine, with what is taken for it: one number for all machines, unless a profile or a
// setting gives another. docs/theory.md says why; docs/predictions.md what each of them is worth.
#pragma once

#include <algorithm>

#include "napkin/hardware.hpp"

namespace napkin {

inline double assumed(const std::optional<Sourced<double>>& stated, double otherwise) {
  return stated ? stated->value : otherwise;
}

// What a kernel does beside products, as far as a compiler needs registers for it.
struct BesideValues {
  bool by_warpgroups = false;   // instructions of four warps: descriptors take the place of many addresses
  bool follows = false;         // a product of what was computed, which hides how its tiles are read ahead
  bool folds_tiles = false;     // sums and the like over what lanes read of tiles one by one
  bool reads_tiles = false;     // columns that are no products read tiles of two dimensions one by one
  bool masks = false;           // positions are compared
  bool shares_columns = false;  // warps of a block share out the columns of a product
  bool strides = false;         // an array has more than two dimensions
  bool saves_in_loops = false;  // results leave in each round of a stream
  bool one_by_one = false;      // lanes read numbers of an operand each by itself
  bool exchanges = false;       // lanes exchange what they computed in 8 bits
  bool widens = false;          // single warps widen operands of a product of what was computed
};
// What a thread needs beside so many registers of what it computes and of operands on their way: addresses, counters,
// and what is read ahead, for which four more are taken as long as there are any.
// docs/cuda.md has what ptxas needs for the kernels that napkin prints.
inline std::int64_t registers_beside(const BesideValues& does, std::int64_t values) {
  constexpr std::int64_t most = 255, ahead = 4;
  if (does.by_warpgroups) {
    const auto follows = does.follows ? does.strides ? 8 : ahead : 0;
    return 48 + (does.exchanges ? 16 : 0) + (does.folds_tiles || does.masks ? 22 : follows);
  }
  const auto products = does.follows ? 47 + (does.strides ? 7 : 0) + (does.masks ? 4 : 0)
                                     : 53 + (does.strides ? 2 : 0) + (does.shares_columns ? 8 : 0);
  const auto others = (does.folds_tiles ? 32 : does.reads_tiles ? 16 : 0) + (does.saves_in_loops ? 64 : 0);
  const auto numbers = does.one_by_one ? 48 : does.widens ? 52 : 0;
  const std::int64_t all = products + others + numbers;
  return does.follows ? all : all + std::clamp<std::int64_t>(most - values - all, 0, ahead);
}
// Of what could be hidden behind the busiest part of a core, the share that is not where nothing makes blocks take
// turns.
inline double unhidden(const Limits& limits) { return assumed(limits.unhidden, 0.4); }
// Of each block that a core holds, the part for which it waits at the end of a launch, where masks make lengths differ.
inline double masked_end(const Limits& limits) { return assumed(limits.masked_end, 0.5); }

}  // namespace napkin
