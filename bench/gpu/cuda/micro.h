// What the small benchmarks share: launches that are timed, the clock of a multiprocessor meanwhile, and the C
// interface.
#pragma once
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace micro {

// Of a measurement: its value, the clock of a multiprocessor in Hz if it was seen, and the seconds it took.
struct Found {
  double value = 0, hz = 0, seconds = 0;
};

struct Device {
  int cores = 0, capability = 0;
  long long cache = 0;
};

inline Device device() {
  static const Device known = [] {
    Device found;
    int one = 0, major = 0, minor = 0;
    cudaGetDevice(&one);
    cudaDeviceGetAttribute(&found.cores, cudaDevAttrMultiProcessorCount, one);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, one);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, one);
    found.capability = major * 10 + minor;
    int bytes = 0;
    cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, one);
    found.cache = bytes;
    return found;
  }();
  return known;
}

// Clocks and nanoseconds of one thread between two moments.
struct Watch {
  long long clocks;
  unsigned long long nanoseconds;
};
__device__ __forceinline__ Watch look() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return {clock64(), now};
}
// The first thread of all says how the clock ran while the kernel did, behind which there is room for what sinks need.
__device__ __forceinline__ void tell(Watch* to, Watch begin) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const Watch end = look();
  *to = {end.clocks - begin.clocks, end.nanoseconds - begin.nanoseconds};
}
inline Watch* watch() {
  static Watch* const made = [] {
    void* found = nullptr;
    return cudaMalloc(&found, 4096) == cudaSuccess ? static_cast<Watch*>(found) : nullptr;
  }();
  return made;
}
inline double hertz() {
  Watch seen = {0, 0};
  if (cudaMemcpy(&seen, watch(), sizeof seen, cudaMemcpyDeviceToHost) != cudaSuccess || seen.nanoseconds < 10000)
    return 0;
  return (double)seen.clocks / (double)seen.nanoseconds * 1e9;
}

// Launches until so many seconds have passed, after one that warms up; the mean seconds of one.
template <class Launch>
int repeat(double seconds, Launch launch, double* each, double* whole) {
  cudaEvent_t begin, end;
  launch();
  int error = cudaDeviceSynchronize();
  if (!error) error = cudaEventCreate(&begin);
  if (!error) error = cudaEventCreate(&end);
  if (error) return error;
  double passed = 0;
  long long count = 0;
  cudaEventRecord(begin);
  const auto began = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 4; ++i, ++count) launch();
    error = cudaStreamSynchronize(nullptr);
    passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  } while (!error && passed < seconds);
  cudaEventRecord(end);
  if (!error) error = cudaEventSynchronize(end);
  float milliseconds = 0;
  if (!error) error = cudaEventElapsedTime(&milliseconds, begin, end);
  *each = milliseconds * 1e-3 / (double)count;
  *whole = passed;
  return error ? error : (int)cudaGetLastError();
}

// The rate of launches that each do so much.
template <class Launch>
int rate(double amount, double seconds, Launch launch, Found& found) {
  double each = 0;
  const int error = repeat(seconds, launch, &each, &found.seconds);
  if (!error) found.value = amount / each, found.hz = hertz();
  return error;
}

inline void idle(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

std::string names();
int measure(const std::string& name, Found& found);

}  // namespace micro

extern "C" const char* micro_names() {
  static const std::string all = micro::names();
  return all.c_str();
}
static int micro_last = 0;
extern "C" int micro_measure(const char* name, double* out) {
  micro::Found found;
  micro_last = micro::measure(name, found);
  out[0] = found.value, out[1] = found.hz, out[2] = found.seconds;
  cudaGetLastError();
  return micro_last;
}
extern "C" const char* micro_error() { return cudaGetErrorString((cudaError_t)micro_last); }
