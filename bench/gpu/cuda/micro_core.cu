// What one multiprocessor does by itself: shared memory, exponentials, multiply-adds; and what a launch and an answer
// of memory take.
#include "micro.h"

using namespace micro;

namespace {

constexpr int threads = 1024, rounds = 2000;

template <int kind>
__global__ void shared_kernel(Watch* told, int* sink) {
  __shared__ __align__(16) int4 tile[threads];
  const Watch begin = look();
  tile[threadIdx.x] = make_int4((int)threadIdx.x, 1, 2, 3);
  __syncthreads();
  unsigned place[8];
  for (unsigned j = 0; j < 8; ++j) place[j] = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x ^ (32 * j)]);
  int a = 0, b = 0, c = 0, d = 0, all = 0;
  // Not unrolled: the assembler reads only once what several rounds at once read.
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if constexpr (kind == 0)
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(place[j]));
      if constexpr (kind == 1)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                     : "r"(place[j]));
      if constexpr (kind == 2)
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(place[j]), "r"(i), "r"(j), "r"(a), "r"(b)
                     : "memory");
      all ^= a ^ b ^ c ^ d;
    }
  }
  if (all == 0x12345678) *sink = all;
  tell(told, begin);
}

template <int kind>
__global__ void lanes_kernel(Watch* told, float* sink, float seed) {
  const Watch begin = look();
  float x[8];
  for (int j = 0; j < 8; ++j) x[j] = seed + (float)(threadIdx.x + j) * 1e-6f;
  unsigned packed[8];
  for (int j = 0; j < 8; ++j) packed[j] = 0x30003000u + threadIdx.x + j;
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      if constexpr (kind == 0) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[j]));
      if constexpr (kind == 1) asm volatile("ex2.approx.f16x2 %0, %0;" : "+r"(packed[j]));
      if constexpr (kind == 2) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[j]) : "f"(seed));
    }
  }
  float all = 0;
  for (int j = 0; j < 8; ++j) all += x[j] + (float)packed[j];
  if (all == 0.12345f) *sink = all;
  tell(told, begin);
}

__global__ void empty_kernel() {}

// One thread follows a chain of addresses.
__global__ void chase_kernel(const unsigned* chain, int steps, long long* clocks, unsigned* sink) {
  unsigned at = 0;
  for (int i = 0; i < steps / 4; ++i) at = __ldcg(chain + at);
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) at = __ldcg(chain + at);
  *clocks = clock64() - begin;
  *sink = at;
}
// Every 256 bytes a next one, far away, once through all of them.
__global__ void chain_kernel(unsigned* chain, unsigned count) {
  const unsigned jump = 7919;  // a prime, so that it has no divisor in common with a power of two
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    chain[i * 64ull] = (unsigned)(((unsigned long long)i + jump) % count) * 64u;
}

void* scratch() {
  static void* const made = [] {
    void* found = nullptr;
    return cudaMalloc(&found, 64) == cudaSuccess ? found : nullptr;
  }();
  return made;
}

template <class Kernel>
int of_all_cores(double each_thread, Kernel launch, Found& found) {
  const int blocks = 2 * device().cores;  // of 1024 threads each
  return rate(
      each_thread * threads * blocks, 0.1, [&] { launch(blocks); }, found);
}

int latency(size_t bytes, Found& found) {
  const unsigned count = (unsigned)(bytes / 256);
  void* chain = nullptr;
  int error = cudaMalloc(&chain, bytes);
  if (error) return error;
  chain_kernel<<<256, 256>>>((unsigned*)chain, count);
  const int steps = count < 16384 ? (int)count : 16384;
  chase_kernel<<<1, 1>>>((const unsigned*)chain, steps, (long long*)scratch(), (unsigned*)scratch() + 4);
  long long clocks = 0;
  error = cudaMemcpy(&clocks, scratch(), sizeof clocks, cudaMemcpyDeviceToHost);
  cudaFree(chain);
  found.value = (double)clocks / steps;
  return error;
}

int launches(bool waits, Found& found) {
  const int count = waits ? 200 : 5000;
  for (int i = 0; i < 50; ++i) empty_kernel<<<1, 32>>>();
  int error = cudaDeviceSynchronize();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    empty_kernel<<<1, 32>>>();
    if (waits) cudaDeviceSynchronize();
  }
  if (!error) error = cudaDeviceSynchronize();
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  found.value = found.seconds / count;
  return error;
}

int launches_of_graph(Found& found) {
  const int nodes = 1000;
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t made;
  int error = cudaStreamCreate(&stream);
  if (!error) error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int i = 0; !error && i < nodes; ++i) empty_kernel<<<1, 32, 0, stream>>>();
  if (!error) error = cudaStreamEndCapture(stream, &graph);
  if (!error) error = cudaGraphInstantiate(&made, graph, 0);
  if (!error) error = cudaGraphLaunch(made, stream);
  if (!error) error = cudaStreamSynchronize(stream);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; !error && i < 5; ++i) error = cudaGraphLaunch(made, stream);
  if (!error) error = cudaStreamSynchronize(stream);
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  found.value = found.seconds / (5 * nodes);
  return error;
}

}  // namespace

std::string micro::names() {
  return "shared_read shared_ldmatrix shared_write ex2_f32 ex2_f16 fma_f32 latency_l2 latency_memory launch_queued "
         "launch_graph launch_alone";
}

int micro::measure(const std::string& name, Found& found) {
  const auto sink = scratch();
  const double each = 8.0 * rounds;
  if (name == "shared_read")
    return of_all_cores(
        16 * each, [&](int n) { shared_kernel<0><<<n, threads>>>(watch(), (int*)sink); }, found);
  if (name == "shared_ldmatrix")
    return of_all_cores(
        16 * each, [&](int n) { shared_kernel<1><<<n, threads>>>(watch(), (int*)sink); }, found);
  if (name == "shared_write")
    return of_all_cores(
        16 * each, [&](int n) { shared_kernel<2><<<n, threads>>>(watch(), (int*)sink); }, found);
  if (name == "ex2_f32")
    return of_all_cores(
        each, [&](int n) { lanes_kernel<0><<<n, threads>>>(watch(), (float*)sink, 0.5f); }, found);
  if (name == "ex2_f16")
    return of_all_cores(
        2 * each, [&](int n) { lanes_kernel<1><<<n, threads>>>(watch(), (float*)sink, 0.5f); }, found);
  if (name == "fma_f32")
    return of_all_cores(
        2 * each, [&](int n) { lanes_kernel<2><<<n, threads>>>(watch(), (float*)sink, 0.5f); }, found);
  if (name == "latency_l2") return latency(4 << 20, found);
  if (name == "latency_memory") return latency((size_t)1 << 30, found);
  if (name == "launch_queued") return launches(false, found);
  if (name == "launch_alone") return launches(true, found);
  if (name == "launch_graph") return launches_of_graph(found);
  return cudaErrorInvalidValue;
}
