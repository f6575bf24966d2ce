// CUDA on the host, as far as generated kernels need it: g++ compiles the same text, and it runs block by block, warp
// by warp, lane by lane. Threads are fibers that change over at __syncthreads and where the lanes of a warp meet.
//
// Made to find mistakes: memory begins as no number, arrays end at a page that may not be touched, shared memory past
// what was asked for is watched, and threads that disagree about a barrier are an error.
#pragma once

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__
#define __align__(bytes)
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __grid_constant__

struct dim3 {
  unsigned x, y, z;
  explicit dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

using std::max;
using std::min;

// Number formats

// A binary format of 1 sign bit, exponent bits and fraction bits.
template <class Bits, int exponent_bits, int fraction_bits, bool saturates>
struct Narrow {
  Bits bits;

  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  // The only format without infinities spends its last exponent on numbers.
  static constexpr bool has_infinity = !(exponent_bits == 4 && fraction_bits == 3);
  static constexpr unsigned last = (1U << exponent_bits) - 1;
  static double greatest() {
    return has_infinity ? std::ldexp(2 - std::ldexp(1.0, -fraction_bits), static_cast<int>(last) - 1 - bias) : 448;
  }

  Narrow() = default;
  explicit Narrow(float value) {
    const unsigned sign = std::signbit(value) ? 1U << (exponent_bits + fraction_bits) : 0;
    bits = static_cast<Bits>(sign | magnitude(std::fabs(static_cast<double>(value))));
  }
  static unsigned magnitude(double value) {
    const unsigned infinite = last << fraction_bits;
    if (std::isnan(value)) return infinite | ((1U << fraction_bits) - 1);
    int exponent = 0;
    if (!std::isinf(value)) {
      std::frexp(value, &exponent);
      const double quantum = std::ldexp(1.0, max(exponent - 1, 1 - bias) - fraction_bits);
      value = std::nearbyint(value / quantum) * quantum;
    }
    if (value > greatest()) {
      if (!saturates) return infinite;
      value = greatest();
    }
    std::frexp(value, &exponent);
    const int power = max(exponent - 1, 1 - bias);
    const auto fraction = static_cast<unsigned>(std::ldexp(value, fraction_bits - power));
    return fraction < (1U << fraction_bits)
               ? fraction
               : (static_cast<unsigned>(power + bias) << fraction_bits) + fraction - (1U << fraction_bits);
  }
  explicit operator float() const {
    const unsigned fraction = bits & ((1U << fraction_bits) - 1), exponent = (bits >> fraction_bits) & last;
    const double sign = (bits >> (exponent_bits + fraction_bits)) & 1U ? -1 : 1;
    if (exponent == last && (has_infinity || fraction == 7))
      return static_cast<float>(sign * (fraction && true ? NAN : INFINITY));
    const double whole = exponent ? fraction + (1U << fraction_bits) : fraction;
    return static_cast<float>(sign * std::ldexp(whole, max(static_cast<int>(exponent), 1) - bias - fraction_bits));
  }
};
using __half = Narrow<std::uint16_t, 5, 10, false>;
using __nv_bfloat16 = Narrow<std::uint16_t, 8, 7, false>;
using __nv_fp8_e4m3 = Narrow<std::uint8_t, 4, 3, true>;
using __nv_fp8_e5m2 = Narrow<std::uint8_t, 5, 2, true>;
inline float __half2float(__half value) { return static_cast<float>(value); }
inline __half __float2half(float value) { return __half(value); }
inline float __bfloat162float(__nv_bfloat16 value) { return static_cast<float>(value); }
inline __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }

// Errors

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9
};
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : error == cudaErrorInvalidValue ? "invalid argument" : "invalid launch";
}

namespace emulation {

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "emulation: %s\n", what);
  std::_Exit(3);
}

// Memory of the device ends at a page that may not be touched.
inline std::map<void*, std::pair<void*, std::size_t>>& allocations() {
  static std::map<void*, std::pair<void*, std::size_t>> all;
  return all;
}

// Threads

constexpr std::size_t most_shared = 227 * 1024, watched = 4096, stack_size = 256 * 1024;

enum class Waits : std::uint8_t { no, warp, team, block, barrier };
constexpr unsigned team_lanes = 128;
struct Fiber {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(stack_size);
  bool done = false;
  Waits waits = Waits::no;
  void* record = nullptr;  // what it brings to the other lanes
  void (*meeting)(std::array<void*, 32>&) = nullptr;
  void (*team_meeting)(std::array<void*, team_lanes>&) = nullptr;
  std::function<bool()> ready;  // whether the barrier in shared memory that it waits for is complete
};
inline ucontext_t scheduler;
inline std::vector<Fiber> fibers;
inline Fiber* current = nullptr;
inline int current_warp = 0;
inline std::function<void()> body;
inline std::size_t shared_bytes = 0;  // that the block asked for

inline void count_barrier();
inline void hold_meeting(unsigned first);
inline void hold_team_meeting(unsigned first);
inline void begin_block(unsigned threads);
inline void end_block();
inline void leave() { swapcontext(&current->context, &scheduler); }

inline void enter() {
  body();
  current->done = true;
}

// One warp until no lane can go on; whether any did.
inline bool run_warp(unsigned first, unsigned count) {
  bool moved = false;
  for (;;) {
    bool again = false;
    unsigned met = 0;
    for (unsigned t = first; t < first + count; ++t) {
      auto& fiber = fibers[t];
      if (fiber.waits == Waits::barrier && fiber.ready()) fiber.waits = Waits::no;
      threadIdx = dim3(t, 0, 0);
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

inline bool all_wait(unsigned first, unsigned count, Waits waits) {
  for (unsigned t = first; t < first + count; ++t)
    if (fibers[t].done || fibers[t].waits != waits) return false;
  return true;
}
inline bool meet_teams(unsigned count) {
  bool moved = false;
  for (unsigned first = 0; first + team_lanes <= count; first += team_lanes)
    if (all_wait(first, team_lanes, Waits::team)) {
      hold_team_meeting(first);
      for (unsigned t = first; t < first + team_lanes; ++t) fibers[t].waits = Waits::no;
      moved = true;
    }
  return moved;
}

[[noreturn]] inline void fail_waiting(unsigned count) {
  const auto any = [&](Waits waits) {
    for (unsigned t = 0; t < count; ++t)
      if (!fibers[t].done && fibers[t].waits == waits) return true;
    return false;
  };
  if (any(Waits::warp)) fail("lanes of a warp disagree about an instruction");
  if (any(Waits::team)) fail("warps of a team disagree about an instruction");
  if (any(Waits::barrier)) fail("threads wait forever for a barrier in shared memory");
  fail("threads of a block disagree about a barrier");
}

// Whether any thread is left after it.
inline bool run_to_barrier(unsigned count) {
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned first = 0; first < count; first += 32)
      if (run_warp(first, min(count - first, 32U))) moved = true;
    if (meet_teams(count)) moved = true;
  }
  unsigned done = 0;
  for (unsigned t = 0; t < count; ++t) done += fibers[t].done;
  if (done == count) return false;
  if (!all_wait(0, count, Waits::block)) fail_waiting(count);
  for (unsigned t = 0; t < count; ++t) fibers[t].waits = Waits::no;
  count_barrier();
  return true;
}

inline void run_threads(unsigned count) {
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
  while (run_to_barrier(count)) {
  }
  end_block();
}

}  // namespace emulation

// What `extern __shared__` declares; a little longer than the most a block may ask for.
alignas(1024) inline unsigned char shared_memory[emulation::most_shared + emulation::watched];

inline void __syncthreads() {
  emulation::current->waits = emulation::Waits::block;
  emulation::leave();
}

#include "teams.hpp"

// Run time

inline cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
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
inline cudaError_t cudaFree(void* pointer) {
  const auto found = emulation::allocations().find(pointer);
  if (found == emulation::allocations().end()) return cudaErrorInvalidValue;
  munmap(found->second.first, found->second.second);
  emulation::allocations().erase(found);
  return cudaSuccess;
}
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  std::memset(pointer, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

using cudaStream_t = void*;
using cudaEvent_t = std::chrono::steady_clock::time_point*;
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new std::chrono::steady_clock::time_point;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event) {
  *event = std::chrono::steady_clock::now();
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(*end - *begin).count();
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute, int bytes) {
  return bytes > static_cast<int>(emulation::most_shared) ? cudaErrorInvalidValue : cudaSuccess;
}

// A device of few cores, so that blocks that stay have several pieces.
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) { return *value = 2, cudaSuccess; }
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int, std::size_t) {
  return *blocks = 1, cudaSuccess;
}

struct cudaFuncAttributes {
  int maxThreadsPerBlock;
};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}

namespace emulation {
template <class... Parameters, std::size_t... i>
void call(void (*kernel)(Parameters...), void** arguments, std::index_sequence<i...>) {
  kernel(*static_cast<std::remove_const_t<Parameters>*>(arguments[i])...);
}
}  // namespace emulation

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t) {
  if (block.x == 0 || block.x > 1024 || grid.x == 0 || grid.y == 0 || shared > emulation::most_shared)
    return cudaErrorInvalidConfiguration;
  gridDim = grid, blockDim = block;
  emulation::body = [&] { emulation::call(kernel, arguments, std::index_sequence_for<Parameters...>()); };
  for (unsigned y = 0; y < grid.y; ++y)
    for (unsigned x = 0; x < grid.x; ++x) {
      blockIdx = dim3(x, y, 0);
      std::memset(shared_memory, 0xff, sizeof shared_memory);
      emulation::shared_bytes = shared;
      emulation::run_threads(block.x);
      for (std::size_t i = 0; i < emulation::watched; ++i)
        if (shared_memory[shared + i] != 0xff) emulation::fail("a block wrote past its shared memory");
    }
  return cudaSuccess;
}
