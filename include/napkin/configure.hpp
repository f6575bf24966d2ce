// Configuration: how the blocks of a kernel run on one core, described: what timing.hpp counts with names, reasons and
// what pieces of other sizes would do. docs/theory.md, configuration.
#pragma once

#include "napkin/timing.hpp"

namespace napkin {

// Transfers against operations in one step of one core with all its warpgroups.
struct BandwidthCheck {
  std::int64_t rows = 0;  // of all warpgroups that fit by bytes
  double step_s = 0, transfer_s = 0;
  std::optional<double> least_rows;  // that keep operations the bound
  double operations_per_s = 0;       // of the machine, at the bound
};

// The same kernel with a piece of another size.
struct Neighbour {
  std::string axis;
  std::int64_t size = 0;
  bool runs = false;
  Overlap overlap = Overlap::none;
  Resource bound = Resource::fma;
  double times_as_fast = 0;      // for each operation of a step
  std::optional<double> time_s;  // of the launch
  std::string why_not{};         // it does not run
};

struct Configuration {
  std::string instruction;                                               // "wgmma m64n8k32"
  std::string row_axis;                                                  // divided among warpgroups
  std::int64_t rows = 0;                                                 // of a block
  std::int64_t warpgroup_rows = 0, warpgroup_warps = 0, warpgroups = 0;  // of a block
  std::vector<std::pair<std::string, std::int64_t>> subloops;  // axis, and the step in which an instruction takes it
  std::vector<Divisor> divisors;
  std::vector<Variable> variables;  // in shared memory
  std::int64_t shared_block_bytes = 0, shared_warpgroup_bytes = 0;
  std::vector<ColumnVariables> columns;
  std::vector<ColumnClocks> clocks;
  std::vector<ResourceClocks> resources;
  Resource bound = Resource::tensor;
  std::vector<Pipelining> pipelinings;
  std::size_t chosen = 0;                // of them: the fastest that runs
  std::optional<ResidentOperands> kept;  // none without such tiles
  std::optional<BandwidthCheck> bandwidth;
  std::vector<Neighbour> neighbours;
  std::optional<Launch> launch;
  std::vector<Cluster> clusters;  // each block alone first; empty where the machine has none
  std::vector<Raster> rasters;    // as written first; empty without a cache, or where there is one order
};

// None where the machine says nothing of its cores, or the kernel has nothing for its matrix units. In the ideal model
// every number in a register is as wide as the widest input, rates are the datasheet's, and bytes alone decide what
// fits.
std::optional<Configuration> configure(const Kernel&, const KernelCost&, const Hardware&, Model);

}  // namespace napkin
