// What a case needs of a device beside the kernels, as C functions: memory, numbers, guards, comparisons, launches that
// are counted, and events. Each returns a cudaError_t if it says int.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "formats.h"

namespace {

cudaStream_t stream = nullptr;
std::vector<cudaEvent_t> events;

EVERYWHERE inline double unit(unsigned long long seed, unsigned long long i) {
  unsigned long long z = seed * 0xD1342543DE82EF95ULL + (i + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

struct Fill {
  void* to;
  int type;
  unsigned long long seed;
  double low, high;
  EVERYWHERE double drawn(long long i) const { return low + (high - low) * unit(seed, (unsigned long long)i); }
  EVERYWHERE void operator()(long long i) const {
    const bool whole = type == type_i8 || type == type_i32 || type == type_bool;
    napkin_store(to, i, type, whole ? floor(drawn(i)) : drawn(i));
  }
};
// Two numbers of one byte.
struct FillPacked {
  Fill of;
  EVERYWHERE void operator()(long long i) const {
    const unsigned low = napkin_pack(of.drawn(2 * i), of.type), high = napkin_pack(of.drawn(2 * i + 1), of.type);
    ((unsigned char*)of.to)[i] = (unsigned char)(low | high << 4);
  }
};

#ifdef __CUDACC__
__global__ void spin_kernel(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) continue;
}
#endif

}  // namespace

extern "C" {

// The device's name; and capability, cores, bytes of the second-level cache, bytes of memory, kHz at most.
int support_begin(char* name, int length, long long* facts) {
  int device = 0;
  cudaDeviceProp found;
  int error = cudaGetDevice(&device);
  if (!error) error = cudaGetDeviceProperties(&found, device);
  if (!error) error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (error) return error;
  std::snprintf(name, (size_t)length, "%s", found.name);
  int clock = 0;
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device);
  const long long all[] = {found.major * 10 + found.minor, found.multiProcessorCount, found.l2CacheSize,
                           (long long)found.totalGlobalMem, clock};
  for (int i = 0; i < 5; ++i) facts[i] = all[i];
  return 0;
}

void* support_stream() { return stream; }
const char* support_error(int error) { return cudaGetErrorString((cudaError_t)error); }

void* support_allocate(long long bytes) {
  void* made = nullptr;
  return cudaMalloc(&made, (size_t)bytes) == cudaSuccess ? made : nullptr;
}
int support_free(void* memory) { return cudaFree(memory); }
long long support_free_bytes() {
  size_t left = 0, all = 0;
  return cudaMemGetInfo(&left, &all) == cudaSuccess ? (long long)left : 0;
}
int support_set(void* at, int byte, long long bytes) { return cudaMemsetAsync(at, byte, (size_t)bytes, stream); }
int support_fetch(void* host, const void* device, long long bytes) {
  return cudaMemcpy(host, device, (size_t)bytes, cudaMemcpyDeviceToHost);
}
int support_copy(void* to, const void* from, long long bytes) {
  return cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice, stream);
}
int support_fill(void* at, int type, long long count, unsigned long long seed, double low, double high) {
  const Fill fill = {at, type, seed, low, high};
  return napkin_packed(type) ? napkin_each((count + 1) / 2, FillPacked{fill}, stream) : napkin_each(count, fill, stream);
}
// Waits for everything; then the first error that anything left behind.
int support_finish() {
  const int error = cudaDeviceSynchronize();
  const int last = cudaGetLastError();
  return error ? error : last;
}
// An error that a call left behind, and which the next caller would take for its own.
int support_left_behind() { return cudaGetLastError(); }

// Whether two arrays are the same to the last bit: how many bytes are not.
long long support_differ(const void* a, const void* b, long long bytes) {
  std::vector<unsigned char> one((size_t)bytes), other((size_t)bytes);
  if (cudaMemcpy(one.data(), a, (size_t)bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return -1;
  if (cudaMemcpy(other.data(), b, (size_t)bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return -1;
  long long found = 0;
  if (std::memcmp(one.data(), other.data(), (size_t)bytes) == 0) return 0;
  for (size_t i = 0; i < one.size(); ++i) found += one[i] != other[i];
  return found;
}

// How many bytes of a guard are no longer what they were.
long long support_changed(const void* at, int byte, long long bytes) {
  std::vector<unsigned char> host((size_t)bytes);
  if (cudaMemcpy(host.data(), at, (size_t)bytes, cudaMemcpyDeviceToHost) != cudaSuccess) return -1;
  long long changed = 0;
  for (const unsigned char one : host) changed += one != (unsigned char)byte;
  return changed;
}

// Launches between the two are captured, not run; the second says how many nodes of kernels, and of anything else, they
// are.
int support_count_begin() { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal); }
int support_count_end(long long* kernels, long long* others) {
  cudaGraph_t graph = nullptr;
  int error = cudaStreamEndCapture(stream, &graph);
  size_t count = 0;
  if (!error) error = cudaGraphGetNodes(graph, nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  if (!error && count) error = cudaGraphGetNodes(graph, nodes.data(), &count);
  *kernels = *others = 0;
  for (size_t i = 0; !error && i < count; ++i) {
    cudaGraphNodeType kind;
    error = cudaGraphNodeGetType(nodes[i], &kind);
    ++(kind == cudaGraphNodeTypeKernel ? *kernels : *others);
  }
  if (graph) cudaGraphDestroy(graph);
  return error;
}

// Compares what a kernel wrote with what is expected, both on the device. Adds to result: squares of differences,
// squares of what is expected, values compared, wrong values (further off than `most` of their row's root mean square),
// values that are no number where one is expected, undefined ones; and replaces 6: the worst share, 7: where it is.
int support_compare(const void* got, long long first, int type, const double* expected, long long count, long long row,
                    double most, double* result) {
  std::vector<double> right((size_t)count);
  std::vector<unsigned char> stored((size_t)(count * napkin_bytes(type)));
  int error = cudaMemcpy(right.data(), expected, (size_t)count * 8, cudaMemcpyDeviceToHost);
  const char* from = (const char*)got + first * napkin_bytes(type);
  if (!error) error = cudaMemcpy(stored.data(), from, stored.size(), cudaMemcpyDeviceToHost);
  if (row < 16) row = count;  // the mean square of a few numbers may be next to none by chance
  for (long long begin = 0; !error && begin < count; begin += row) {
    const long long end = begin + row < count ? begin + row : count;
    double square = 0;
    for (long long i = begin; i < end; ++i)
      if (std::isfinite(right[(size_t)i])) square += right[(size_t)i] * right[(size_t)i];
    const double size = std::sqrt(square / (double)(end - begin)) + 1e-30;
    result[1] += square;
    for (long long i = begin; i < end; ++i) {
      const double value = napkin_load(stored.data(), i, type), exact = right[(size_t)i];
      result[2] += 1;
      if (exact != exact) {
        result[5] += 1;
        continue;
      }
      if (value == exact) continue;
      const double off = std::fabs(value - exact);
      const double share = std::isfinite(off) ? off / size : INFINITY;
      if (std::isfinite(off)) result[0] += off * off;
      result[4] += !std::isfinite(off);
      result[3] += share > most;
      if (share > result[6]) result[6] = share, result[7] = (double)(first + i);
    }
  }
  return error;
}

int support_event(int number) {
  while ((int)events.size() <= number) {
    cudaEvent_t made;
    const int error = cudaEventCreate(&made);
    if (error) return error;
    events.push_back(made);
  }
  return cudaEventRecord(events[(size_t)number], stream);
}
double support_elapsed(int begin, int end) {
  float milliseconds = 0;
  return cudaEventElapsedTime(&milliseconds, events[(size_t)begin], events[(size_t)end]) == cudaSuccess
             ? milliseconds * 1e-3
             : -1;
}
// The device waits, while launches queue up behind.
int support_spin(long long clocks) {
#ifdef __CUDACC__
  spin_kernel<<<1, 1, 0, stream>>>(clocks);
  return cudaGetLastError();
#else
  return (void)clocks, 0;
#endif
}

}  // extern "C"
