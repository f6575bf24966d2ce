// CUDA on the host, as far as generated kernels need it: g++ compiles the same text, and it runs block by block, warp
// by warp, lane by lane. Threads are fibers that change over at __syncthreads and where the lanes of a warp meet.
// Blocks of a cluster run together: their threads are counted through, and each finds its own memory where the text has
// it.
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
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

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

// Arrays end at a page that may not be touched, so that harnesses need no margin behind them.
#ifndef NAPKIN_MARGIN
#define NAPKIN_MARGIN 0
#endif

// Errors

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNotSupported = 801
};
const char* cudaGetErrorString(cudaError_t error);
// The last error that a call of the run time gave back, until it is asked for.
cudaError_t cudaGetLastError();

namespace emulation {

[[noreturn]] void fail(const char* what);

// What a call gives back, kept as the last error if it is one.
cudaError_t gives(cudaError_t error);
// Whether the device is without something: words in NAPKIN_EMULATION_LACKS, "attributes", "sm_90a", "hopper",
// "encoder".
bool lacks(const char* what);
// The device at hand, and how often its properties were asked for, kernels changed or arrays mapped.
extern int device, questions;

// Memory of the device ends at a page that may not be touched.
std::map<void*, std::pair<void*, std::size_t>>& allocations();

// Threads

constexpr std::size_t most_shared = 227 * 1024, watched = 5120, stack_size = 256 * 1024;
constexpr std::size_t span = most_shared + watched;  // of a block's shared memory: whole pages
constexpr unsigned most_blocks = 4;                  // of a cluster

enum class Waits : std::uint8_t { no, warp, warpgroup, block, cluster, barrier, attempt, turn };
constexpr unsigned warpgroup_lanes = 128;
struct Fiber {
  ucontext_t context;
  std::vector<char> stack = std::vector<char>(stack_size);
  bool done = false;
  Waits waits = Waits::no;
  void* record = nullptr;  // what it brings to the other lanes
  void (*meeting)(std::array<void*, 32>&) = nullptr;
  void (*warpgroup_meeting)(std::array<void*, warpgroup_lanes>&) = nullptr;
  std::function<bool()> ready;  // whether the barrier in shared memory that it waits for is complete
};
extern ucontext_t scheduler;
extern std::vector<Fiber> fibers;
extern Fiber* current;
extern int current_warp;
extern std::function<void()> body;
extern std::size_t shared_bytes;  // that the block asked for
extern unsigned threads_of_block, first_block, block_at_hand;

void enter_block(unsigned block);
void count_barrier(unsigned first, unsigned count);
void hold_meeting(unsigned first);
void hold_warpgroup_meeting(unsigned first);
void begin_block(unsigned threads);
void end_block();
inline void leave() { swapcontext(&current->context, &scheduler); }

void enter();

// One warp until no lane can go on; whether any did.
bool run_warp(unsigned first, unsigned count);

bool all_wait(unsigned first, unsigned count, Waits waits);
bool meet_warpgroups(unsigned count);

bool all_done(unsigned first, unsigned count);
// Those that only tried a barrier go on without it.
bool give_up_attempts(unsigned count);
// Every block at a barrier of its own, or the cluster at one of all threads that have not ended.
bool meet_blocks(unsigned count);

[[noreturn]] void fail_waiting(unsigned count);

void run_to_end(unsigned count);

void run_threads(unsigned threads, unsigned blocks);

}  // namespace emulation

// What `extern __shared__` declares; a little longer than the most a block may ask for.
alignas(4096) extern unsigned char shared_memory[emulation::span];

namespace emulation {

// The memories of a cluster's blocks, one after another. That of the block at hand is seen in `shared_memory` too.
extern unsigned char* all_memories;
extern int memories_file;

void share_memories(unsigned blocks);
void enter_block(unsigned block);

}  // namespace emulation

void __syncthreads();
[[noreturn]] void __trap();

#include "stores.hpp"

// Run time

cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaFree(void* pointer);
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind);
cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes);
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

using cudaStream_t = void*;
using cudaEvent_t = std::chrono::steady_clock::time_point*;
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventRecord(cudaEvent_t event);
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaEventDestroy(cudaEvent_t event);

namespace emulation {
// How much shared memory a kernel may have on a device, beyond what it has unasked.
extern std::map<std::pair<void*, int>, std::size_t> rooms;
template <class Kernel>
bool has_room(Kernel* kernel, std::size_t bytes) {
  const auto found = rooms.find({reinterpret_cast<void*>(kernel), device});
  return bytes <= (found == rooms.end() ? 48 * 1024 : found->second);
}
}  // namespace emulation

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute, int bytes) {
  ++emulation::questions;
  if (bytes > static_cast<int>(emulation::most_shared)) return emulation::gives(cudaErrorInvalidValue);
  emulation::rooms[{reinterpret_cast<void*>(kernel), emulation::device}] = static_cast<std::size_t>(bytes);
  return cudaSuccess;
}

// A device of few cores, so that blocks that stay have several pieces.
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrComputeCapabilityMajor };
inline cudaError_t cudaGetDevice(int* device) { return *device = emulation::device, cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device);
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel*, int, std::size_t) {
  ++emulation::questions;
  return *blocks = 1, cudaSuccess;
}

struct cudaFuncAttributes {
  int maxThreadsPerBlock;
};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  ++emulation::questions;
  if (emulation::lacks("attributes")) return emulation::gives(cudaErrorInvalidDeviceFunction);
  attributes->maxThreadsPerBlock = emulation::lacks("sm_90a") ? 1 : 1024;
  return cudaSuccess;
}

namespace emulation {
template <class... Parameters, std::size_t... i>
void call(void (*kernel)(Parameters...), void** arguments, std::index_sequence<i...>) {
  kernel(*static_cast<std::remove_const_t<Parameters>*>(arguments[i])...);
}

void run_blocks(unsigned x, unsigned y, unsigned blocks, unsigned threads, std::size_t shared);
}  // namespace emulation

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t) {
  if (block.x == 0 || block.x > 1024 || grid.x == 0 || grid.y == 0 || !emulation::has_room(kernel, shared))
    return emulation::gives(cudaErrorInvalidConfiguration);
  gridDim = grid, blockDim = block;
  emulation::body = [&] { emulation::call(kernel, arguments, std::index_sequence_for<Parameters...>()); };
  for (unsigned y = 0; y < grid.y; ++y)
    for (unsigned x = 0; x < grid.x; ++x) emulation::run_blocks(x, y, 1, block.x, shared);
  return cudaSuccess;
}

// Clusters

enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension = 4 };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    dim3 clusterDim;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, Kernel*, const cudaLaunchConfig_t*) {
  ++emulation::questions;
  return *clusters = 2, cudaSuccess;
}
template <class... Parameters>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Parameters... arguments) {
  const auto cluster = config->numAttrs == 1 ? config->attrs->val.clusterDim.x : 0;
  const auto threads = config->blockDim.x;
  if (cluster < 1 || cluster > emulation::most_blocks || config->gridDim.x % cluster != 0 || threads % 128 != 0 ||
      threads > 1024 || !emulation::has_room(kernel, config->dynamicSmemBytes))
    return emulation::gives(cudaErrorInvalidConfiguration);
  gridDim = config->gridDim, blockDim = config->blockDim;
  emulation::body = [&] { kernel(arguments...); };
  for (unsigned x = 0; x < gridDim.x; x += cluster)
    emulation::run_blocks(x, 0, cluster, threads, config->dynamicSmemBytes);
  return cudaSuccess;
}
