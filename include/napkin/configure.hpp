// Configuration: a description of how the blocks of a kernel run on one SM. It adds names, reasons and the effect of
// pieces of other sizes to the numbers of timing.hpp. docs/theory.md, configuration.
#pragma once

#include "napkin/timing.hpp"

namespace napkin {

// Compares transfers with operations in one iteration of an SM that runs as many warpgroups as fit.
struct BandwidthCheck {
  std::int64_t rows = 0;              // of all warpgroups that fit by bytes
  double step_s = 0, transfer_s = 0;  // time of the operations, and of the transfers
  std::optional<double> least_rows;   // from which on operations are the bound
  double operations_per_s = 0;        // of the whole machine, if operations are the bound
};

// The same kernel with a piece of another size.
struct Neighbour {
  std::string axis;
  SplitKind kind = SplitKind::group;
  std::int64_t size = 0;
  bool runs = false;
  Overlap overlap = Overlap::none;
  Resource bound = Resource::fma;
  double times_as_fast = 0;      // per operation of an iteration, compared with the present size
  std::optional<double> time_s;  // of the launch
  std::string why_not{};         // why it does not run; empty if it does
};

struct Configuration {
  std::string instruction;                                               // "wgmma m64n8k32"
  std::string row_axis;                                                  // divided among warpgroups
  std::int64_t rows = 0;                                                 // of a block
  std::int64_t warpgroup_rows = 0, warpgroup_warps = 0, warpgroups = 0;  // of a block
  std::vector<std::pair<std::string, std::int64_t>> subloops;            // axis, and its positions in one step
  std::vector<Divisor> divisors;
  std::vector<Variable> variables;  // in shared memory
  std::int64_t shared_block_bytes = 0, shared_warpgroup_bytes = 0;
  std::vector<ColumnVariables> columns;
  std::vector<ColumnClocks> clocks;
  std::vector<ResourceClocks> resources;
  Resource bound = Resource::tensor;
  std::vector<Pipelining> pipelinings;
  std::size_t chosen = 0;                // index into `pipelinings`: the fastest that runs
  std::optional<ResidentOperands> kept;  // none if no operand could be resident
  std::optional<BandwidthCheck> bandwidth;
  std::vector<Neighbour> neighbours;
  std::optional<Launch> launch;
  std::vector<Cluster> clusters;  // single blocks come first; empty if the machine has no clusters
  std::vector<Raster> rasters;    // the order of the partition comes first; empty without a cache or another order
};

// Returns none if the profile does not describe SMs, or if the kernel has no work for matrix units. In the ideal model
// every number in a register is as wide as the widest input, rates are those of the datasheet, and bytes alone decide
// what fits.
std::optional<Configuration> configure(const Kernel&, const KernelCost&, const Hardware&, Model);

}  // namespace napkin
