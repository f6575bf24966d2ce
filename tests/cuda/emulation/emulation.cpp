// Threads that change over, blocks and their memories, and the run time of the device.
#include "emulation.hpp"

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorInvalidDeviceFunction:
      return "invalid device function";
    case cudaErrorNotSupported:
      return "operation not supported";
    default:
      return "invalid launch";
  }
}

namespace emulation {

static cudaError_t last_error = cudaSuccess;

cudaError_t gives(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

bool lacks(const char* what) {
  const char* words = std::getenv("NAPKIN_EMULATION_LACKS");
  return words && std::strstr(words, what);
}

void fail(const char* what) {
  std::fprintf(stderr, "emulation: %s\n", what);
  std::_Exit(3);
}

std::map<void*, std::pair<void*, std::size_t>>& allocations() {
  static std::map<void*, std::pair<void*, std::size_t>> all;
  return all;
}

void enter() {
  body();
  current->done = true;
}

bool run_warp(unsigned first, unsigned count) {
  bool moved = false;
  enter_block(first / threads_of_block);
  for (;;) {
    bool again = false;
    unsigned met = 0;
    for (unsigned t = first; t < first + count; ++t) {
      auto& fiber = fibers[t];
      const bool asks = fiber.waits == Waits::barrier || fiber.waits == Waits::attempt || fiber.waits == Waits::turn;
      if (asks && fiber.ready()) fiber.waits = Waits::no;
      threadIdx = dim3(t % threads_of_block, 0, 0);
      current = &fiber;
      if (!fiber.done && fiber.waits == Waits::no) {
        swapcontext(&scheduler, &fiber.context);
        again = true;
      }
      met += fiber.waits == Waits::warp;
    }
    moved = moved || again;
    if (met == 32) {
      hold_meeting(first);
      for (unsigned t = first; t < first + 32; ++t) fibers[t].waits = Waits::no;
    } else if (!again) {
      return moved;
    }
  }
}

bool all_wait(unsigned first, unsigned count, Waits waits) {
  for (unsigned t = first; t < first + count; ++t)
    if (fibers[t].done || fibers[t].waits != waits) return false;
  return true;
}

bool meet_warpgroups(unsigned count) {
  bool moved = false;
  for (unsigned first = 0; first + warpgroup_lanes <= count; first += warpgroup_lanes)
    if (all_wait(first, warpgroup_lanes, Waits::warpgroup)) {
      enter_block(first / threads_of_block);
      hold_warpgroup_meeting(first);
      for (unsigned t = first; t < first + warpgroup_lanes; ++t) fibers[t].waits = Waits::no;
      moved = true;
    }
  return moved;
}

bool all_done(unsigned first, unsigned count) {
  for (unsigned t = first; t < first + count; ++t)
    if (!fibers[t].done) return false;
  return true;
}

bool give_up_attempts(unsigned count) {
  bool any = false;
  for (unsigned t = 0; t < count; ++t)
    if (!fibers[t].done && fibers[t].waits == Waits::attempt) fibers[t].waits = Waits::no, any = true;
  return any;
}

bool meet_blocks(unsigned count) {
  bool moved = false, all = true;
  for (unsigned first = 0; first < count; first += threads_of_block)
    if (all_wait(first, threads_of_block, Waits::block)) {
      for (unsigned t = first; t < first + threads_of_block; ++t) fibers[t].waits = Waits::no;
      count_barrier(first, threads_of_block);
      moved = true;
    }
  for (unsigned t = 0; t < count; ++t) all = all && (fibers[t].done || fibers[t].waits == Waits::cluster);
  if (!all || all_done(0, count)) return moved;
  for (unsigned t = 0; t < count; ++t) fibers[t].waits = Waits::no;
  count_barrier(0, count);
  return true;
}

void fail_waiting(unsigned count) {
  const auto any = [&](Waits waits) {
    for (unsigned t = 0; t < count; ++t)
      if (!fibers[t].done && fibers[t].waits == waits) return true;
    return false;
  };
  if (any(Waits::warp)) fail("lanes of a warp disagree about an instruction");
  if (any(Waits::warpgroup)) fail("warps of a warpgroup disagree about an instruction");
  if (any(Waits::turn)) fail("warpgroups wait forever for their turn");
  if (any(Waits::barrier)) fail("threads wait forever for a barrier in shared memory");
  fail("threads of a block disagree about a barrier");
}

void run_to_end(unsigned count) {
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned first = 0; first < count; first += 32)
      if (run_warp(first, min(count - first, 32U))) moved = true;
    if (meet_warpgroups(count)) moved = true;
    if (!moved) moved = meet_blocks(count);
    if (!moved) moved = give_up_attempts(count);
  }
  if (!all_done(0, count)) fail_waiting(count);
}

void run_threads(unsigned threads, unsigned blocks) {
  const auto count = threads * blocks;
  threads_of_block = threads;
  if (fibers.size() < count) fibers = std::vector<Fiber>(count);
  for (unsigned t = 0; t < count; ++t) {
    auto& fiber = fibers[t];
    fiber.done = false;
    fiber.waits = Waits::no;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, enter, 0);
  }
  begin_block(count);
  run_to_end(count);
  end_block();
}

void share_memories(unsigned blocks) {
  if (blocks > 1 && memories_file < 0) {
    memories_file = memfd_create("shared_memory", 0);
    if (memories_file < 0 || ftruncate(memories_file, static_cast<off_t>(span * most_blocks)) != 0)
      fail("no memory for a cluster");
    all_memories = static_cast<unsigned char*>(
        mmap(nullptr, span * most_blocks, PROT_READ | PROT_WRITE, MAP_SHARED, memories_file, 0));
    block_at_hand = most_blocks;
  }
  std::memset(all_memories, 0xff, span * blocks);
}

void enter_block(unsigned block) {
  const auto x = first_block + block;
  blockIdx.x = x;
  if (memories_file < 0 || block == block_at_hand) return;
  block_at_hand = block;
  mmap(shared_memory, span, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memories_file,
       static_cast<off_t>(span * block));
}

}  // namespace emulation

void __syncthreads() {
  emulation::current->waits = emulation::Waits::block;
  emulation::leave();
}

void __trap() {
  std::fflush(stdout);
  emulation::fail("a trap");
}

cudaError_t cudaGetLastError() { return std::exchange(emulation::last_error, cudaSuccess); }

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  ++emulation::questions;
  *value = which == cudaDevAttrMultiProcessorCount ? 2 : emulation::lacks("hopper") ? 8 : 9;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto whole = (bytes + page - 1) / page * page + page;
  auto* base =
      static_cast<unsigned char*>(mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (base == MAP_FAILED) return cudaErrorMemoryAllocation;
  std::memset(base, 0xff, whole - page);
  mprotect(base + whole - page, page, PROT_NONE);
  *pointer = base + whole - page - bytes / 8 * 8 - (bytes % 8 ? 8 : 0);
  emulation::allocations()[*pointer] = {base, whole};
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  const auto found = emulation::allocations().find(pointer);
  if (found == emulation::allocations().end()) return cudaErrorInvalidValue;
  munmap(found->second.first, found->second.second);
  emulation::allocations().erase(found);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  std::memset(pointer, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new std::chrono::steady_clock::time_point;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event) {
  *event = std::chrono::steady_clock::now();
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(*end - *begin).count();
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

namespace emulation {

void run_blocks(unsigned x, unsigned y, unsigned blocks, unsigned threads, std::size_t shared) {
  blockIdx = dim3(x, y, 0);
  first_block = x;
  shared_bytes = shared;
  share_memories(blocks);
  run_threads(threads, blocks);
  for (unsigned block = 0; block < blocks; ++block)
    for (std::size_t i = shared; i < shared + watched; ++i)
      if (all_memories[block * span + i] != 0xff) fail("a block wrote past its shared memory");
}

}  // namespace emulation
