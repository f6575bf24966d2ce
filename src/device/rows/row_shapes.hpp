// The first phase of kernels without products: which wire runs along lanes, and how many lanes and values it gets.
#pragma once

#include "device/warps/lowered.hpp"

namespace napkin {

// How the wire along lanes is split: it is grouped, whole in registers, streamed, or whole in shared memory.
enum class RowSplit : std::uint8_t { grouped, whole, streamed, staged };
struct RowShape {
  WireId lanes;
  RowSplit split = RowSplit::whole;
  std::int64_t vector = 1, vectors = 1;
  int warps_of_row = 1;  // warps of a row
  bool shares = true;    // rows of a block share inputs that they all read

  std::int64_t piece() const { return vector * vectors * warps_of_row * lanes_of_warp; }
};

// All reads of inputs.
std::vector<Access> inputs_read(const Program&);
// The wires that are contiguous in the memory of inputs, then those of outputs.
std::vector<WireId> wires_along_memory(const Kernel&);
// The wires whose positions are rows: every wire that can be grouped without a merge, except the one along lanes.
std::vector<WireId> wires_of_rows(const Kernel&, WireId lanes);
// The shapes worth an attempt with one of these wires along lanes, best first.
std::vector<RowShape> row_shapes(const Kernel&, const Verdict&, const Hardware&);

}  // namespace napkin
