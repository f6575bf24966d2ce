// The functions that kernels on matrix units call: those of single instructions, which an emulation on the host brings
// itself, and those made of them.
#include "emit/cuda_rows.hpp"
#include "emit/cuda_warps.hpp"
#include "napkin/instructions.hpp"

namespace napkin {
namespace {

constexpr std::string_view machine_functions =
    R"(// Two numbers in the halves of a register.
__device__ __forceinline__ unsigned napkin_pack_f16(float low, float high) {
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
__device__ __forceinline__ unsigned napkin_pack_bf16(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
__device__ __forceinline__ float napkin_exp2(float a) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
}
__device__ __forceinline__ float napkin_reciprocal(float a) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
  return result;
}
template <class T>
__device__ __forceinline__ T napkin_shared_read(const T* at) {
  return *at;
}
template <class T>
__device__ __forceinline__ void napkin_shared_write(T* at, T value) {
  *at = value;
}
template <class T>
__device__ __forceinline__ T napkin_global_read(const T* at) {
  return *at;
}
template <class T>
__device__ __forceinline__ void napkin_global_write(T* at, T value) {
  *at = value;
}
// The same number for all of so many threads.
template <int threads, class T>
__device__ __forceinline__ T napkin_read_once(const T* at) {
  return *at;
}
)";

constexpr std::string_view fast_functions =
    R"(// exp(a - b), and exp(a) where b is infinite; b is never less than a. One multiply-add once `c` is known.
__device__ __forceinline__ float napkin_fast_expdiff(float a, float b) {
  const float c = fabsf(b) == INFINITY ? 0.0f : b * -1.44269504f;
  return napkin_exp2(fmaf(a, 1.44269504f, c));
}

)";

constexpr std::string_view tile_functions =
    R"(// Where an entry of a tile stands: chunks of 16 bytes change places within a row, so that rows which are read together
// lie in different banks.
template <int columns, int bytes, int bits>
__device__ __forceinline__ int napkin_place(int row, int column) {
  constexpr int chunk = 16 / bytes;
  return row * columns + (((column / chunk) ^ ((row >> (3 - bits)) & ((1 << bits) - 1))) * chunk) + column % chunk;
}

// Two numbers side by side, at once where their address allows; the second only if it counts.
template <class T>
struct alignas(2 * sizeof(T)) napkin_pair {
  T first, second;
};
template <class T>
__device__ __forceinline__ void napkin_write_pair(T* at, T first, T second, bool counts) {
  if (counts && reinterpret_cast<size_t>(at) % sizeof(napkin_pair<T>) == 0) {
    napkin_global_write(reinterpret_cast<napkin_pair<T>*>(at), napkin_pair<T>{first, second});
  } else {
    napkin_global_write(at, first);
    if (counts) napkin_global_write(at + 1, second);
  }
}

// A tile from an array into shared memory, by all threads of a block: 16 bytes at a time where rows are aligned so, 4
// where they are aligned to that, else number by number, of which each thread has four on their way. Past the rows and columns that are left stands 0. Where rows
// share out the threads, one has the same chunk of several rows.
template <int rows, int columns, int bits, int threads, class T>
__device__ __forceinline__ void napkin_load_tile(T* tile, const T* from, long long row_step, long long column_step,
                                                 int rows_left, int columns_left) {
  constexpr int chunk = 16 / sizeof(T), chunks = columns / chunk, step = threads / chunks;
  constexpr int few = sizeof(T) < 4 ? 4 / sizeof(T) : 1;
  if (column_step != 1 || row_step % chunk != 0 || reinterpret_cast<size_t>(from) % 16 != 0) {
    if (sizeof(T) <= 4 && column_step == 1 && row_step % few == 0 && reinterpret_cast<size_t>(from) % 4 == 0) {
#pragma unroll 1
      for (int i = threadIdx.x; i < rows * columns / few; i += threads) {
        const int row = i / (columns / few), column = i % (columns / few) * few;
        const int left = row < rows_left ? max(0, min(columns_left - column, few)) : 0;
        napkin_copy_4(tile + napkin_place<columns, sizeof(T), bits>(row, column),
                      left > 0 ? from + row * row_step + column : from, left * int(sizeof(T)));
      }
    } else {
      constexpr int together = 4;
#pragma unroll 1
      for (int i = threadIdx.x; i < rows * columns; i += threads * together) {
        T held[together];
#pragma unroll
        for (int n = 0; n < together; ++n) {
          const int row = (i + n * threads) / columns, column = (i + n * threads) % columns;
          const bool counts = row < min(rows, rows_left) && column < columns_left;
          held[n] = counts ? napkin_global_read(from + row * row_step + column * column_step) : T();
        }
#pragma unroll
        for (int n = 0; n < together; ++n) {
          const int row = (i + n * threads) / columns, column = (i + n * threads) % columns;
          if (row < rows) napkin_shared_write(tile + napkin_place<columns, sizeof(T), bits>(row, column), held[n]);
        }
      }
    }
  } else if (threads % chunks == 0) {
    const int first = threadIdx.x / chunks, column = threadIdx.x % chunks * chunk;
    const int left = max(0, min(columns_left - column, chunk)) * int(sizeof(T));
    const T* next = left > 0 ? from + first * row_step + column : from;
    const long long further = left > 0 ? step * row_step : 0;
#pragma unroll 8
    for (int row = first; row < rows; row += step, next += further) {
      const bool counts = row < rows_left;
      napkin_copy_16(tile + napkin_place<columns, sizeof(T), bits>(row, column), counts ? next : from, counts ? left : 0);
    }
  } else {
#pragma unroll 2
    for (int i = threadIdx.x; i < rows * chunks; i += threads) {
      const int row = i / chunks, column = i % chunks * chunk;
      const int left = row < rows_left ? max(0, min(columns_left - column, chunk)) : 0;
      napkin_copy_16(tile + napkin_place<columns, sizeof(T), bits>(row, column),
                     left > 0 ? from + row * row_step + column : from, left * int(sizeof(T)));
    }
  }
}
)";

constexpr std::string_view team_functions =
    R"(// Where a team's instructions are: the machine of compute capability 9.0, under its full name, and its emulation.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(NAPKIN_EMULATION)
#define NAPKIN_TEAMS
#endif

// An operand in shared memory as instructions of a team are told it: where it begins, bytes from panel to panel and from
// eight rows to the next eight, all in units of 16, and within how many bytes its chunks change places.
template <int swizzle, int leading, int stride, class T>
__device__ __forceinline__ unsigned long long napkin_operand(const T* begin) {
  return (napkin_shared_address(begin) & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 |
         (unsigned long long)(stride >> 4) << 32 | (unsigned long long)swizzle << 62;
}

#ifdef NAPKIN_DEBUG
// Where mistakes are looked for, a wait gives up after so many tries, and says which barrier of which block it was.
#ifndef NAPKIN_DEBUG_TRIES
#define NAPKIN_DEBUG_TRIES (1 << 26)
#endif
__device__ __forceinline__ void napkin_barrier_wait_or_trap(napkin_barrier* barrier, int parity, const char* kernel,
                                                            const char* name) {
  for (int tries = 0; !napkin_barrier_try(barrier, parity);)
    if (threadIdx.x % 32 == 0 && ++tries >= NAPKIN_DEBUG_TRIES) {
      printf("%s, block %lld, thread %d: the barrier %s, at byte %u of shared memory, is not complete after %d tries (phase %d)\n",
             kernel, blockIdx.x + (long long)blockIdx.y * gridDim.x, (int)threadIdx.x, name,
             napkin_shared_address(barrier), tries, parity);
      __trap();
    }
}
#define napkin_barrier_wait(barrier, parity) napkin_barrier_wait_or_trap(barrier, parity, __func__, #barrier)
#endif

// A warp has read the tiles of a ring's copy.
__device__ __forceinline__ void napkin_release(napkin_barrier* empty) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) napkin_barrier_arrive(empty);
}

// Where an entry of a tile in panels stands.
template <int rows, int panel, int bytes, int bits>
__device__ __forceinline__ int napkin_panel_place(int row, int column) {
  return column / panel * (rows * panel) + napkin_place<panel, bytes, bits>(row, column % panel);
}
)";

constexpr std::string_view store_functions =
    R"(// Two numbers side by side into a tile that leaves.
template <class T>
__device__ __forceinline__ void napkin_stage_pair(T* at, T first, T second) {
  napkin_shared_write(reinterpret_cast<napkin_pair<T>*>(at), napkin_pair<T>{first, second});
}
)";
constexpr std::string_view number_store_functions =
    R"(// The same part of a tile that leaves, by all threads of its team: so many rows from one row and column on, of which
// so many are inside of the array.
template <int rows, int columns, int tile_rows, int panel, int bits, class T>
__device__ __forceinline__ void napkin_store_numbers(const T* tile, int row, int column, T* to, long long row_step,
                                                     int rows_left, int columns_left) {
#pragma unroll 1
  for (int i = threadIdx.x % 128; i < rows * columns; i += 128) {
    const int down = i / columns, along = i % columns;
    if (down < rows_left && along < columns_left)
      napkin_global_write(to + down * row_step + along,
                          napkin_shared_read(tile + napkin_panel_place<tile_rows, panel, int(sizeof(T)), bits>(
                                                        row + down, column + along)));
  }
}
)";

constexpr std::string_view cluster_functions =
    R"(// A warp has read the tiles of a ring's copy, which the blocks of a cluster fill together: all of them are told.
template <int blocks>
__device__ __forceinline__ void napkin_release_cluster(napkin_barrier* empty) {
  __syncwarp();
  if (threadIdx.x % 32 < blocks) napkin_barrier_arrive_at(empty, threadIdx.x % 32);
}
)";

}  // namespace

std::string warp_definitions(const std::string& used_in) {
  const auto rows = row_definitions(used_in);
  const bool tiles = used_in.find("napkin_load_tile<") != std::string::npos;
  const bool by_teams = used_in.find("napkin_team_") != std::string::npos;
  if (!tiles && rows.empty() && !by_teams) return "";
  const auto products = product_definitions(used_in);
  const auto all = used_in + products + (tiles || by_teams ? std::string(tile_functions) : "") +
                   (by_teams ? std::string(team_functions) : "");
  return "// The machine's own instructions; an emulation of it on the host brings its own.\n#ifndef "
         "NAPKIN_EMULATION\n" +
         instruction_definitions(all) + std::string(machine_functions) + "#endif\n\n" + products +
         std::string(fast_functions) + (tiles || by_teams ? std::string(tile_functions) + "\n" : "") +
         (by_teams ? std::string(team_functions) + "\n" : "") +
         (used_in.find("napkin_stage_pair(") != std::string::npos ? std::string(store_functions) + "\n" : "") +
         (used_in.find("napkin_store_numbers<") != std::string::npos ? std::string(number_store_functions) + "\n"
                                                                     : "") +
         (used_in.find("napkin_release_cluster<") != std::string::npos ? std::string(cluster_functions) + "\n" : "") +
         rows;
}

}  // namespace napkin
