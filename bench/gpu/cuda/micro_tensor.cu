// Rates of matrix instructions by format: `wgmma` of two teams of four warps for each core, operands in shared memory,
// and `mma.sync` of sixteen warps; alone, a few milliseconds after a rest, and under load, for a second.
#include "micro.h"

using namespace micro;

namespace {

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define NAPKIN_WARPGROUPS
#endif
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
#define NAPKIN_F8
#endif

enum Format { f16, bf16, tf32, f8e4m3, f8e5m2, i8 };

// Numbers without infinities in every format: a bit of each exponent is 0.
__device__ __forceinline__ unsigned bits(unsigned seed) {
  seed = (seed ^ 61) ^ (seed >> 16);
  seed *= 9;
  seed ^= seed >> 4;
  seed *= 0x27d4eb2d;
  return (seed ^ (seed >> 15)) & 0xBFBFBFBF;
}

constexpr int product_steps = 4, product_rounds = 2000;

#ifdef NAPKIN_WARPGROUPS
// 64 x 256, of operands that stand side by side in lines of 128 bytes, swizzled.
__device__ __forceinline__ unsigned long long descriptor(unsigned place) {
  return ((place & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
// Names of 128 accumulators in the text, and what they are.
#define NAPKIN_SUMS                                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                       \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define NAPKIN_FLOATS                                                                                                 \
  "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]),         \
      "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]),          \
      "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),         \
      "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]),         \
      "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]),         \
      "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]),         \
      "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]),         \
      "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63]), "+f"(c[64]),         \
      "+f"(c[65]), "+f"(c[66]), "+f"(c[67]), "+f"(c[68]), "+f"(c[69]), "+f"(c[70]), "+f"(c[71]), "+f"(c[72]),         \
      "+f"(c[73]), "+f"(c[74]), "+f"(c[75]), "+f"(c[76]), "+f"(c[77]), "+f"(c[78]), "+f"(c[79]), "+f"(c[80]),         \
      "+f"(c[81]), "+f"(c[82]), "+f"(c[83]), "+f"(c[84]), "+f"(c[85]), "+f"(c[86]), "+f"(c[87]), "+f"(c[88]),         \
      "+f"(c[89]), "+f"(c[90]), "+f"(c[91]), "+f"(c[92]), "+f"(c[93]), "+f"(c[94]), "+f"(c[95]), "+f"(c[96]),         \
      "+f"(c[97]), "+f"(c[98]), "+f"(c[99]), "+f"(c[100]), "+f"(c[101]), "+f"(c[102]), "+f"(c[103]), "+f"(c[104]),    \
      "+f"(c[105]), "+f"(c[106]), "+f"(c[107]), "+f"(c[108]), "+f"(c[109]), "+f"(c[110]), "+f"(c[111]), "+f"(c[112]), \
      "+f"(c[113]), "+f"(c[114]), "+f"(c[115]), "+f"(c[116]), "+f"(c[117]), "+f"(c[118]), "+f"(c[119]), "+f"(c[120]), \
      "+f"(c[121]), "+f"(c[122]), "+f"(c[123]), "+f"(c[124]), "+f"(c[125]), "+f"(c[126]), "+f"(c[127])
#define NAPKIN_INTS                                                                                                   \
  "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]), "+r"(c[8]),         \
      "+r"(c[9]), "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]), "+r"(c[16]),          \
      "+r"(c[17]), "+r"(c[18]), "+r"(c[19]), "+r"(c[20]), "+r"(c[21]), "+r"(c[22]), "+r"(c[23]), "+r"(c[24]),         \
      "+r"(c[25]), "+r"(c[26]), "+r"(c[27]), "+r"(c[28]), "+r"(c[29]), "+r"(c[30]), "+r"(c[31]), "+r"(c[32]),         \
      "+r"(c[33]), "+r"(c[34]), "+r"(c[35]), "+r"(c[36]), "+r"(c[37]), "+r"(c[38]), "+r"(c[39]), "+r"(c[40]),         \
      "+r"(c[41]), "+r"(c[42]), "+r"(c[43]), "+r"(c[44]), "+r"(c[45]), "+r"(c[46]), "+r"(c[47]), "+r"(c[48]),         \
      "+r"(c[49]), "+r"(c[50]), "+r"(c[51]), "+r"(c[52]), "+r"(c[53]), "+r"(c[54]), "+r"(c[55]), "+r"(c[56]),         \
      "+r"(c[57]), "+r"(c[58]), "+r"(c[59]), "+r"(c[60]), "+r"(c[61]), "+r"(c[62]), "+r"(c[63]), "+r"(c[64]),         \
      "+r"(c[65]), "+r"(c[66]), "+r"(c[67]), "+r"(c[68]), "+r"(c[69]), "+r"(c[70]), "+r"(c[71]), "+r"(c[72]),         \
      "+r"(c[73]), "+r"(c[74]), "+r"(c[75]), "+r"(c[76]), "+r"(c[77]), "+r"(c[78]), "+r"(c[79]), "+r"(c[80]),         \
      "+r"(c[81]), "+r"(c[82]), "+r"(c[83]), "+r"(c[84]), "+r"(c[85]), "+r"(c[86]), "+r"(c[87]), "+r"(c[88]),         \
      "+r"(c[89]), "+r"(c[90]), "+r"(c[91]), "+r"(c[92]), "+r"(c[93]), "+r"(c[94]), "+r"(c[95]), "+r"(c[96]),         \
      "+r"(c[97]), "+r"(c[98]), "+r"(c[99]), "+r"(c[100]), "+r"(c[101]), "+r"(c[102]), "+r"(c[103]), "+r"(c[104]),    \
      "+r"(c[105]), "+r"(c[106]), "+r"(c[107]), "+r"(c[108]), "+r"(c[109]), "+r"(c[110]), "+r"(c[111]), "+r"(c[112]), \
      "+r"(c[113]), "+r"(c[114]), "+r"(c[115]), "+r"(c[116]), "+r"(c[117]), "+r"(c[118]), "+r"(c[119]), "+r"(c[120]), \
      "+r"(c[121]), "+r"(c[122]), "+r"(c[123]), "+r"(c[124]), "+r"(c[125]), "+r"(c[126]), "+r"(c[127])
template <Format format>
__device__ __forceinline__ void product(float* c, unsigned long long a, unsigned long long b) {
  if constexpr (format == f16)
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" NAPKIN_SUMS "}, %128, %129, 1, 1, 1, 0, 0;"
                 : NAPKIN_FLOATS
                 : "l"(a), "l"(b));
  if constexpr (format == bf16)
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" NAPKIN_SUMS "}, %128, %129, 1, 1, 1, 0, 0;"
                 : NAPKIN_FLOATS
                 : "l"(a), "l"(b));
  if constexpr (format == tf32)
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" NAPKIN_SUMS "}, %128, %129, 1, 1, 1;"
                 : NAPKIN_FLOATS
                 : "l"(a), "l"(b));
  if constexpr (format == f8e4m3)
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {" NAPKIN_SUMS "}, %128, %129, 1, 1, 1;"
                 : NAPKIN_FLOATS
                 : "l"(a), "l"(b));
  if constexpr (format == f8e5m2)
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k32.f32.e5m2.e5m2 {" NAPKIN_SUMS "}, %128, %129, 1, 1, 1;"
                 : NAPKIN_FLOATS
                 : "l"(a), "l"(b));
}
__device__ __forceinline__ void product(int* c, unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {" NAPKIN_SUMS "}, %128, %129, 1;"
               : NAPKIN_INTS
               : "l"(a), "l"(b));
}
#endif

constexpr int team_bytes = 8192, other_bytes = 32768, products_bytes = 2 * team_bytes + other_bytes + 1024;

template <Format format, class Sum>
__global__ void __launch_bounds__(256) team_kernel(Watch* told, Sum* sink) {
#ifdef NAPKIN_WARPGROUPS
  extern __shared__ unsigned char memory[];
  const Watch begin = look();
  const unsigned base = ((unsigned)__cvta_generic_to_shared(memory) + 1023) / 1024 * 1024;
  for (unsigned i = threadIdx.x; i < (2 * team_bytes + other_bytes) / 4; i += blockDim.x)
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(base + 4 * i), "r"(bits(i + 7919 * blockIdx.x)) : "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  Sum c[128];
  for (int i = 0; i < 128; ++i) c[i] = 0;
  const unsigned long long a = descriptor(base + threadIdx.x / 128 * team_bytes), b = descriptor(base + 2 * team_bytes);
  for (int round = 0; round < product_rounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < product_steps; ++k) {
      if constexpr (format == i8)
        product(c, a + 2 * k, b + 2 * k);
      else
        product<format>(c, a + 2 * k, b + 2 * k);
    }
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  Sum all = 0;
  for (int i = 0; i < 128; ++i) all += c[i];
  if (all == (Sum)12345) *sink = all;
  tell(told, begin);
#endif
}

constexpr int warps_of_block = 16, chains = 8;

template <Format format>
__device__ __forceinline__ void small_product(float* c, const unsigned* a, const unsigned* b) {
#define NAPKIN_SMALL(shape, types)                                                \
  asm volatile("mma.sync.aligned." shape ".row.col." types                        \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                   \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (format == f16) NAPKIN_SMALL("m16n8k16", "f32.f16.f16.f32");
  if constexpr (format == bf16) NAPKIN_SMALL("m16n8k16", "f32.bf16.bf16.f32");
  if constexpr (format == tf32) NAPKIN_SMALL("m16n8k8", "f32.tf32.tf32.f32");
#ifdef NAPKIN_F8
  if constexpr (format == f8e4m3) NAPKIN_SMALL("m16n8k32", "f32.e4m3.e4m3.f32");
  if constexpr (format == f8e5m2) NAPKIN_SMALL("m16n8k32", "f32.e5m2.e5m2.f32");
#endif
  if constexpr (format == i8) {
    int* sums = reinterpret_cast<int*>(c);
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}

template <Format format>
__global__ void __launch_bounds__(32 * warps_of_block) warp_kernel(Watch* told, float* sink) {
  const Watch begin = look();
  unsigned a[4], b[2];
  for (int i = 0; i < 4; ++i) a[i] = bits(threadIdx.x * 4 + i);
  for (int i = 0; i < 2; ++i) b[i] = bits(threadIdx.x * 2 + i + 100000);
  float c[chains][4];
  for (int j = 0; j < chains; ++j)
    for (int i = 0; i < 4; ++i) c[j][i] = 0;
  for (int round = 0; round < product_rounds; ++round) {
#pragma unroll
    for (int j = 0; j < chains; ++j) small_product<format>(c[j], a, b);
  }
  float all = 0;
  for (int j = 0; j < chains; ++j)
    for (int i = 0; i < 4; ++i) all += c[j][i];
  if (all == 0.12345f) *sink = all;
  tell(told, begin);
}

// Contracted in one instruction.
constexpr int depth(Format format) { return format == tf32 ? 8 : format == f16 || format == bf16 ? 16 : 32; }

template <Format format, class Sum>
int teams(double seconds, Found& found) {
  if (device().capability != 90) return cudaErrorNotSupported;
  const auto kernel = team_kernel<format, Sum>;
  const int error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, products_bytes);
  if (error) return error;
  const double amount = 2.0 * 64 * 256 * depth(format) * product_steps * product_rounds * 2 * device().cores;
  return rate(
      amount, seconds, [&] { kernel<<<device().cores, 256, products_bytes>>>(watch(), (Sum*)watch() + 8); }, found);
}

template <Format format>
int warps(double seconds, Found& found) {
  if ((format == f8e4m3 || format == f8e5m2) && device().capability < 89) return cudaErrorNotSupported;
  const double amount = 2.0 * 16 * 8 * depth(format) * chains * product_rounds * warps_of_block * 2 * device().cores;
  const auto launch = [&] {
    warp_kernel<format><<<2 * device().cores, 32 * warps_of_block>>>(watch(), (float*)watch() + 8);
  };
  return rate(amount, seconds, launch, found);
}

template <Format format>
int one(bool by_teams, double seconds, Found& found) {
  if (!by_teams) return warps<format>(seconds, found);
  if constexpr (format == i8)
    return teams<i8, int>(seconds, found);
  else
    return teams<format, float>(seconds, found);
}

constexpr const char* formats[] = {"f16", "bf16", "tf32", "f8e4m3", "f8e5m2", "i8"};

}  // namespace

std::string micro::names() {
  std::string all;
  for (const char* family : {"wgmma", "mma"}) {
    if (std::string(family) == "wgmma" && device().capability != 90) continue;
    for (const char* format : formats)
      if (std::string(format).substr(0, 2) != "f8" || device().capability >= 89)
        for (const char* how : {"alone", "load"}) all += std::string(family) + "_" + format + "_" + how + " ";
  }
  return all;
}

int micro::measure(const std::string& name, Found& found) {
  const bool by_teams = name.rfind("wgmma", 0) == 0, alone = name.find("alone") != std::string::npos;
  const std::string format = name.substr(by_teams ? 6 : 4, name.rfind('_') - (by_teams ? 6 : 4));
  const double seconds = alone ? 0.004 : format == "f16" ? 1.0 : 0.4;
  if (alone) idle(0.3);
  if (format == "f16") return one<f16>(by_teams, seconds, found);
  if (format == "bf16") return one<bf16>(by_teams, seconds, found);
  if (format == "tf32") return one<tf32>(by_teams, seconds, found);
  if (format == "f8e4m3") return one<f8e4m3>(by_teams, seconds, found);
  if (format == "f8e5m2") return one<f8e5m2>(by_teams, seconds, found);
  if (format == "i8") return one<i8>(by_teams, seconds, found);
  return cudaErrorInvalidValue;
}
