// Which loop of every column is innermost, and how the tiles that it reads are laid out for that loop.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

// The innermost loop of a column runs along one wire, whose positions are its lanes: a wire of the result, or a folded
// one.
struct Lanes {
  std::optional<WireId> wire;  // none: the column is a single number
  bool folded = false;
};

struct CpuLayout {
  std::map<const Compute*, Lanes> lanes;
  std::map<BufferId, std::size_t> fastest;  // dimension of a tile that is contiguous; if absent, the last
};
CpuLayout cpu_layout(const LoopNest&);

}  // namespace napkin
