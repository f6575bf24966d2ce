// The registers of a thread beyond values and operands, fitted to what ptxas gives the kernels that napkin prints.
#pragma once

#include <algorithm>
#include <cstdint>

namespace napkin {

// The properties of a kernel for which a compiler needs registers beyond values and operands.
struct BesideValues {
  bool by_warpgroups = false;   // instructions of four warps: descriptors replace many addresses
  bool follows = false;         // it has a product of computed values, which hides the reading ahead of tiles
  bool folds_tiles = false;     // folds over numbers of tiles that lanes read one by one
  bool reads_tiles = false;     // columns that are no products read numbers of 2-dimensional tiles
  bool masks = false;           // positions are compared
  bool shares_columns = false;  // warps of a block divide the columns of a product
  bool strides = false;         // an array has more than two dimensions
  bool saves_in_loops = false;  // results are saved in each iteration of a stream
  bool one_by_one = false;      // lanes read the numbers of an operand one by one
  bool exchanges = false;       // lanes exchange computed values of 8 bits
  bool widens = false;          // single warps widen operands of a product of computed values
};
// Registers of a thread in addition to `values` registers for computed values and for operands in flight: for
// addresses, counters and reading ahead, which gets up to four if they are free. docs/cuda.md has the numbers of ptxas
// for the kernels that napkin prints.
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
}  // namespace napkin
