// Bandwidth of device memory and of the second-level cache by how much is read again and again; and, on machines with
// clusters, of copies into shared memory alone and for several blocks at once.
#include "micro.h"

using namespace micro;

namespace {

constexpr int threads = 512, unrolled = 8;

// Reads so many bytes, several times over, past the first-level cache.
__global__ void __launch_bounds__(threads)
    read_kernel(const int4* from, long long count, int passes, Watch* told, int* sink) {
  const Watch begin = look();
  int all = 0;
  const long long step = (long long)gridDim.x * threads;
  for (int pass = 0; pass < passes; ++pass) {
    for (long long i = blockIdx.x * (long long)threads + threadIdx.x; i < count; i += step * unrolled) {
      int4 read[unrolled];
#pragma unroll
      for (int j = 0; j < unrolled; ++j)
        read[j] = i + j * step < count ? __ldcg(from + i + j * step) : make_int4(0, 0, 0, 0);
#pragma unroll
      for (int j = 0; j < unrolled; ++j) all ^= read[j].x ^ read[j].y ^ read[j].z ^ read[j].w;
    }
  }
  if (all == 0x12345678) *sink = all;
  tell(told, begin);
}

__global__ void __launch_bounds__(threads) copy_kernel(const int4* from, int4* to, long long count) {
  const long long step = (long long)gridDim.x * threads;
  for (long long i = blockIdx.x * (long long)threads + threadIdx.x; i < count; i += step * unrolled) {
    int4 read[unrolled];
#pragma unroll
    for (int j = 0; j < unrolled; ++j)
      if (i + j * step < count) read[j] = __ldcs(from + i + j * step);
#pragma unroll
    for (int j = 0; j < unrolled; ++j)
      if (i + j * step < count) __stcs(to + i + j * step, read[j]);
  }
}

constexpr int chunk = 16384, half = 5, slots = 2 * half;  // bytes of a copy, copies of half a ring

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define NAPKIN_CLUSTERS
#endif

// Every block of a cluster receives the same chunks: each copies all of them, or its share to all.
template <int blocks, bool multicast>
__global__ void __launch_bounds__(128) bulk_kernel(const char* from, long long chunks, int rounds, Watch* told) {
#ifdef NAPKIN_CLUSTERS
  extern __shared__ __align__(1024) unsigned char ring[];
  __shared__ __align__(8) unsigned long long full[2];
  const Watch begin = look();
  unsigned rank = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const unsigned base = (unsigned)__cvta_generic_to_shared(ring), barrier = (unsigned)__cvta_generic_to_shared(full);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier + 8 * i) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const auto meet = [] { asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory"); };
  const long long first = (long long)(blockIdx.x / blocks) * half;
  const auto issue = [&](int which, int round) {
    if (threadIdx.x != 0) return;
    const unsigned mine = barrier + 8 * which;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mine), "r"(half * chunk) : "memory");
    for (int i = 0; i < half; ++i) {
      const long long number = (first + (long long)round * half * (gridDim.x / blocks) + i) % chunks;
      const unsigned to = base + (which * half + i) * chunk;
      if constexpr (multicast) {
        const unsigned part = chunk / blocks, at = rank * part;
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
            "[%3], %4;" ::"r"(to + at),
            "l"(from + number * chunk + at), "r"(part), "r"(mine), "h"((unsigned short)((1 << blocks) - 1))
            : "memory");
      } else {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
            "l"(from + number * chunk), "r"(chunk), "r"(mine)
            : "memory");
      }
    }
  };
  const auto wait = [&](int which, unsigned phase) {
    unsigned done = 0;
    while (!done)
      asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                   : "=r"(done)
                   : "r"(barrier + 8 * which), "r"(phase)
                   : "memory");
  };
  meet();
  issue(0, 0);
  issue(1, 1);
  for (int round = 0; round < rounds; ++round) {
    wait(round & 1, (round >> 1) & 1);
    meet();
    if (round + 2 < rounds) issue(round & 1, round + 2);
  }
  meet();
  tell(told, begin);
#endif
}

constexpr int lent = 4096;  // numbers of 16 bytes that a block has for its siblings

// Blocks of a cluster read the shared memory of the next one.
template <int blocks>
__global__ void __launch_bounds__(1024) sibling_kernel(int rounds, Watch* told, int* sink) {
#ifdef NAPKIN_CLUSTERS
  extern __shared__ __align__(1024) unsigned char ring[];
  const Watch begin = look();
  for (int i = (int)threadIdx.x; i < lent; i += 1024) reinterpret_cast<int4*>(ring)[i] = make_int4(i, 1, 2, 3);
  unsigned rank = 0, other = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const unsigned base = (unsigned)__cvta_generic_to_shared(ring) + threadIdx.x * 16;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(base), "r"((rank + 1) % blocks));
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  int a = 0, b = 0, c = 0, d = 0, all = 0;
  // Not unrolled: the assembler reads only once what several rounds at once read.
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int j = 0; j < lent / 1024; ++j) {
      asm volatile("ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                   : "r"(other + j * 16384));
      all ^= a ^ b ^ c ^ d;
    }
  }
  if (all == 0x12345678) *sink = all;
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  tell(told, begin);
#endif
}

struct Memory {
  void *a = nullptr, *b = nullptr;
  ~Memory() { cudaFree(a), cudaFree(b); }
  int take(size_t bytes, bool both) {
    int error = cudaMalloc(&a, bytes);
    if (!error) error = cudaMemset(a, 1, bytes);
    if (!error && both) error = cudaMalloc(&b, bytes);
    return error;
  }
};

int reading(long long bytes, Found& found) {
  Memory memory;
  const int error = memory.take((size_t)bytes, false);
  if (error) return error;
  const int passes = (int)((4LL << 30) / bytes > 0 ? (4LL << 30) / bytes : 1);
  const auto launch = [&] {
    read_kernel<<<4 * device().cores, threads>>>((const int4*)memory.a, bytes / 16, passes, watch(), (int*)watch() + 8);
  };
  return rate((double)bytes * passes, 0.1, launch, found);
}

int copying(long long bytes, Found& found) {
  Memory memory;
  const int error = memory.take((size_t)bytes, true);
  if (error) return error;
  const auto launch = [&] {
    copy_kernel<<<4 * device().cores, threads>>>((const int4*)memory.a, (int4*)memory.b, bytes / 16);
  };
  return rate(2.0 * (double)bytes, 0.2, launch, found);
}

// A launch of clusters, one block for each core.
struct Clusters {
  cudaLaunchAttribute cluster;
  cudaLaunchConfig_t config = {};
  Clusters(int blocks, int threads_of_block, int shared) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = (unsigned)blocks, cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.gridDim = dim3((unsigned)(device().cores / blocks * blocks));
    config.blockDim = dim3((unsigned)threads_of_block), config.dynamicSmemBytes = (size_t)shared;
    config.attrs = &cluster, config.numAttrs = 1;
  }
  Clusters(const Clusters&) = delete;
};

// Bytes that arrive in all blocks together.
template <int blocks, bool multicast>
int arriving(long long bytes, Found& found) {
  if (device().capability < 90) return cudaErrorNotSupported;
  Memory memory;
  int error = memory.take((size_t)bytes, false);
  const auto kernel = bulk_kernel<blocks, multicast>;
  if (!error) error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, slots * chunk);
  if (error) return error;
  const int rounds = 400;
  const Clusters clusters(blocks, 128, slots * chunk);
  const auto launch = [&] {
    cudaLaunchKernelEx(&clusters.config, kernel, (const char*)memory.a, bytes / chunk, rounds, watch());
  };
  return rate((double)clusters.config.gridDim.x * rounds * half * chunk, 0.1, launch, found);
}

template <int blocks>
int siblings(Found& found) {
  if (device().capability < 90) return cudaErrorNotSupported;
  const auto kernel = sibling_kernel<blocks>;
  const int error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 16 * lent);
  if (error) return error;
  const int rounds = 2000;
  const Clusters clusters(blocks, 1024, 16 * lent);
  const auto launch = [&] { cudaLaunchKernelEx(&clusters.config, kernel, rounds, watch(), (int*)watch() + 8); };
  return rate((double)clusters.config.gridDim.x * rounds * lent * 16, 0.1, launch, found);
}

}  // namespace

std::string micro::names() {
  std::string all;
  for (const int megabytes : {2, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128, 512, 2048})
    all += "read_" + std::to_string(megabytes) + "MiB ";
  all += "copy_2048MiB ";
  if (device().capability >= 90)
    for (const char* set : {"16MiB", "1024MiB"})
      for (const char* how :
           {"bulk_alone_", "bulk_two_each_", "bulk_two_multicast_", "bulk_four_each_", "bulk_four_multicast_"})
        all += std::string(how) + set + " ";
  if (device().capability >= 90) all += "siblings_two siblings_four";
  return all;
}

int micro::measure(const std::string& name, Found& found) {
  const auto at = name.rfind('_');
  const std::string kind = name.substr(0, at);
  const long long bytes = std::atoll(name.c_str() + at + 1) << 20;
  if (kind == "read") return reading(bytes, found);
  if (kind == "copy") return copying(bytes, found);
  if (kind == "bulk_alone") return arriving<1, false>(bytes, found);
  if (kind == "bulk_two_each") return arriving<2, false>(bytes, found);
  if (kind == "bulk_two_multicast") return arriving<2, true>(bytes, found);
  if (kind == "bulk_four_each") return arriving<4, false>(bytes, found);
  if (kind == "bulk_four_multicast") return arriving<4, true>(bytes, found);
  if (name == "siblings_two") return siblings<2>(found);
  if (name == "siblings_four") return siblings<4>(found);
  return cudaErrorInvalidValue;
}
