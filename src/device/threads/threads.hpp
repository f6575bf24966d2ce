// How a kernel's groups become blocks and threads of CUDA.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

// A streamed wire whose every piece is shared out to threads: thread n of `parts` has the n-th `share` positions of
// every `step`.
struct Spread {
  WireId wire;
  std::int64_t step = 1, share = 1, parts = 1;
};

// A kernel with one more level, that of threads, at its end. Groups down to `block_level` are blocks of the grid,
// groups below it threads; tiles at it stand in shared memory as far as there is room.
struct ThreadedKernel {
  LoopNest nest;
  Hardware hardware;
  std::size_t block_level = 1;
  int threads = 32;  // of one block
  std::vector<Spread> spread{};
  std::set<BufferId> staged{};  // tiles in shared memory; others are read where they are
  std::int64_t shared_bytes = 0;
  std::int64_t shared_alignment = 16;  // that all kernels of a file declare
};
ThreadedKernel thread(const Kernel&, const Hardware&);

// Bytes of a tile in shared memory, to the next 16.
std::int64_t shared_size(const Buffer&);

}  // namespace napkin
