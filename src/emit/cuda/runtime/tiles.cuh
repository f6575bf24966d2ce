// Where an entry of a tile stands: chunks of 16 bytes change places within a row, so that rows which are read together
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
