// What the configuration of a kernel decides that its distribution then follows.
#pragma once

#include "napkin/timing.hpp"

namespace napkin {

// The fastest launch in the model of the machine. It is computed for the part of the kernel that runs on one SM,
// because rows are divided among warpgroups anew. Everything has its default where the model cannot run the kernel.
struct Planned {
  Overlap overlap = Overlap::none;
  std::int64_t blocks = 1;          // that run at the same time on an SM
  std::int64_t stages = 1;          // of the pipeline of a streamed tile
  bool keeps = false;               // resident operands stay in registers throughout a stream
  std::optional<WireId> rows{};     // that are divided among warpgroups
  std::int64_t warpgroup_rows = 0;  // of them, for each warpgroup
  bool by_warpgroups = true;        // warpgroups issue the instructions, not single warps
  bool within = false;              // the operations of one warpgroup overlap each other
};
Planned planned(const Kernel&, const Hardware&);

}  // namespace napkin
