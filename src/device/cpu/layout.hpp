// Which loop of every column is innermost, and how the tiles that it reads lie in memory for that.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

// The innermost loop of a column runs along one wire, its lanes: of the result, or of what is folded.
struct Lanes {
  std::optional<WireId> wire;  // none: the column is a single number
  bool folded = false;
};

struct CpuLayout {
  std::map<const Compute*, Lanes> lanes;
  std::map<BufferId, std::size_t> fastest;  // dimension of a tile that lies together; else the last
};
CpuLayout cpu_layout(const LoopNest&);

}  // namespace napkin
