// How a kernel's groups become blocks and threads of CUDA.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

// A streamed wire, every piece of which is divided among threads: thread n of `parts` has the n-th `share` positions of
// every `step`.
struct Spread {
  WireId wire;
  std::int64_t step = 1, share = 1, parts = 1;
};

// A kernel with one more level, that of threads, at its end. Groups down to `block_level` are blocks of the grid,
// groups below it are threads. Tiles at that level are in shared memory as long as they fit.
struct ThreadedKernel {
  LoopNest nest;
  Hardware hardware;
  std::size_t block_level = 1;
  int threads = 32;  // of one block
  std::vector<Spread> spread{};
  std::set<BufferId> staged{};  // tiles in shared memory; others are read in place
  std::int64_t shared_bytes = 0;
  std::int64_t shared_alignment = 16;  // that all kernels of a file declare
};
ThreadedKernel thread(const Kernel&, const Hardware&);

// Bytes of a tile in shared memory, to the next 16.
std::int64_t shared_size(const Buffer&);

}  // namespace napkin
