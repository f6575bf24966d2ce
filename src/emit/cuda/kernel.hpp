// The kernels of a plan as __global__ functions.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "emit/cuda/page.hpp"
#include "napkin/device.hpp"

namespace napkin {

// A function of the plan's source, and how it is launched.
struct CudaKernel {
  ThreadedKernel threaded;
  PrintedKernel printed;
};

// What all functions of the source have in common.
struct CudaTarget {
  const CodeNames& names;
  const Hardware& hardware;
  std::int64_t shared_alignment;
};

// Prints the function of a kernel whose nest was distributed to blocks of `warps` warps.
template <class Printer, class Nest>
CudaKernel printed_by(const Nest& nest, const CudaTarget& target, const std::string& name, int warps) {
  ThreadedKernel threaded{.nest = *nest.nest,
                          .hardware = target.hardware,
                          .block_level = nest.block_level,
                          .threads = warps * static_cast<int>(lanes_of_warp),
                          .shared_bytes = nest.shared_bytes,
                          .shared_alignment = target.shared_alignment};
  auto printed = Printer(threaded, nest, target.names).run(name);
  return {std::move(threaded), std::move(printed)};
}

// The function of this name that runs a kernel on plain threads, with rows over warps, on matrix units of single warps,
// or on those of warpgroups, for which a producer warpgroup copies tiles.
CudaKernel thread_kernel(const Kernel&, const CudaTarget&, const std::string& name);
CudaKernel row_kernel(const RowNest&, const CudaTarget&, const std::string& name);
CudaKernel warp_kernel(const WarpNest&, const CudaTarget&, const std::string& name);
CudaKernel warpgroup_kernel(const WarpNest&, const CudaTarget&, const std::string& name);

}  // namespace napkin
