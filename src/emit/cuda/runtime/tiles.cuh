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

// Copies 4, 8 or 16 bytes into shared memory asynchronously: all of them, or `count`, and then the others are 0.
template <int bytes, class... Count>
__device__ __forceinline__ void napkin_copy(void* to, const void* from, Count... count) {
  if constexpr (bytes == 16)
    napkin_copy_16(to, from, count...);
  else if constexpr (bytes == 8)
    napkin_copy_8(to, from, count...);
  else
    napkin_copy_4(to, from, count...);
}
// The bytes that are aligned together in every row of an array.
template <class T>
__device__ __forceinline__ unsigned napkin_alignment(const T* from, long long row_step) {
  return unsigned(reinterpret_cast<size_t>(from)) | unsigned(row_step * sizeof(T));
}

// Copies a tile asynchronously, `bytes` at a time: rows are aligned so. If rows share out the threads, a thread has the
// same columns of several rows.
template <int bytes, int rows, int columns, int bits, int threads, class T>
__device__ __forceinline__ void napkin_copy_tile(T* tile, const T* from, long long row_step, int rows_left,
                                                 int columns_left) {
  constexpr int each = bytes / int(sizeof(T)), across = columns / each, step = threads / across;
  if constexpr (threads % across == 0) {
    const int first = threadIdx.x / across, column = threadIdx.x % across * each;
    const T* next = from + first * row_step + column;
    T* to = tile + napkin_place<columns, sizeof(T), bits>(first, column);
    const auto copy_rows = [&](const auto copy) {
#pragma unroll 8
      for (int i = 0; i < (rows + step - 1) / step; ++i) {
        const int row = first + i * step;
        if (step % 8 != 0) to = tile + napkin_place<columns, sizeof(T), bits>(row, column);
        if (rows % step == 0 || row < rows) copy(row);
        if (step % 8 == 0) to += step * columns;  // the order of chunks is the same every eight rows
        next += step * row_step;
      }
    };
    const int left = max(0, min(columns_left - column, each)) * int(sizeof(T));
    if (rows_left >= rows && columns_left >= columns)
      copy_rows([&](int) { napkin_copy<bytes>(to, next); });
    else
      copy_rows([&](int row) { napkin_copy<bytes>(to, next, row < rows_left ? left : 0); });
  } else {
#pragma unroll 2
    for (int i = threadIdx.x; i < rows * across; i += threads) {
      const int row = i / across, column = i % across * each;
      const int left = row < rows_left ? max(0, min(columns_left - column, each)) : 0;
      napkin_copy<bytes>(tile + napkin_place<columns, sizeof(T), bits>(row, column), from + row * row_step + column,
                         left * int(sizeof(T)));
    }
  }
}

struct alignas(16) napkin_sixteen {
  unsigned fours[4];
};
// The 16 bytes that follow the first `before` of what napkin_read_around read.
__device__ __forceinline__ napkin_sixteen napkin_cut(const unsigned (&words)[8], unsigned before) {
  unsigned by_two[6], by_one[5];
#pragma unroll
  for (int i = 0; i < 6; ++i) by_two[i] = before & 8 ? words[i + 2] : words[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) by_one[i] = before & 4 ? by_two[i + 1] : by_two[i];
  napkin_sixteen cut;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    cut.fours[i] = unsigned((by_one[i] | (unsigned long long)by_one[i + 1] << 32) >> (before % 4 * 8));
  return cut;
}

// Copies a tile whose rows are aligned to their numbers only. A thread has up to two chunks on their way, each with
// the 32 aligned bytes around it. It reads the numbers of a chunk one by one if some are past the end or if those 32
// bytes may reach out of the array.
template <int rows, int columns, int bits, int threads, class T>
__device__ __forceinline__ void napkin_read_tile(T* tile, const T* from, long long row_step, int rows_left,
                                                 int columns_left) {
  constexpr int each = 16 / int(sizeof(T)), across = columns / each, all = rows * across;
  constexpr int together = all > threads ? 2 : 1;  // more would need more registers
#pragma unroll 1
  for (int i = threadIdx.x; i < all; i += threads * together) {
    unsigned words[together][8], before[together];
#pragma unroll
    for (int n = 0; n < together; ++n) {
      const int row = (i + n * threads) / across, column = (i + n * threads) % across * each;
      const int left = row < min(rows, rows_left) ? columns_left - column : 0;
      const T* const at = from + row * row_step + column;
      const bool follows = left >= 2 * each || (left >= each && row + 1 < rows_left);
      before[n] = 0;
      if (row_step >= each && row + column > 0 && follows) {
        before[n] = unsigned(reinterpret_cast<size_t>(at) % 16);
        napkin_read_around(words[n], at);
      } else {
        T numbers[each];
#pragma unroll
        for (int k = 0; k < each; ++k) numbers[k] = k < left ? napkin_global_read(at + k) : T();
        memcpy(words[n], numbers, 16);
      }
    }
#pragma unroll
    for (int n = 0; n < together; ++n) {
      const int row = (i + n * threads) / across, column = (i + n * threads) % across * each;
      T* const to = tile + napkin_place<columns, sizeof(T), bits>(row, column);
      if (row < rows) napkin_shared_write(reinterpret_cast<napkin_sixteen*>(to), napkin_cut(words[n], before[n]));
    }
  }
}

// Copies a tile at any alignment and with any step from column to column: four bytes at a time if rows are aligned to
// that, else number by number, of which a thread has up to four on their way.
template <int rows, int columns, int bits, int threads, class T>
__device__ __forceinline__ void napkin_gather_tile(T* tile, const T* from, long long row_step, long long column_step,
                                                   int rows_left, int columns_left) {
  constexpr int few = sizeof(T) < 4 ? 4 / sizeof(T) : 1, all = rows * columns;
  constexpr int together = all > 2 * threads ? 4 : all > threads ? 2 : 1;
  if (sizeof(T) <= 4 && column_step == 1 && napkin_alignment(from, row_step) % 4 == 0) {
#pragma unroll 1
    for (int i = threadIdx.x; i < all / few; i += threads) {
      const int row = i / (columns / few), column = i % (columns / few) * few;
      const int left = row < rows_left ? max(0, min(columns_left - column, few)) : 0;
      napkin_copy_4(tile + napkin_place<columns, sizeof(T), bits>(row, column), from + row * row_step + column,
                    left * int(sizeof(T)));
    }
    return;
  }
#pragma unroll 1
  for (int i = threadIdx.x; i < all; i += threads * together) {
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

// All threads of a block copy a tile of an array into shared memory. `aligned` is the alignment of rows, in bytes, at
// the sizes that the kernel is planned for. Rows aligned to less take longer. Past the rows and columns that are left,
// numbers of the tile are 0.
template <int aligned, int rows, int columns, int bits, int threads, class T>
__device__ __forceinline__ void napkin_load_tile(T* tile, const T* from, long long row_step, long long column_step,
                                                 int rows_left, int columns_left) {
  constexpr int least = sizeof(T) > 4 ? int(sizeof(T)) : 4;
  if (column_step == 1 && aligned < least)
    napkin_read_tile<rows, columns, bits, threads>(tile, from, row_step, rows_left, columns_left);
  else if (column_step == 1 && napkin_alignment(from, row_step) % aligned == 0)
    napkin_copy_tile<(aligned < least ? least : aligned), rows, columns, bits, threads>(tile, from, row_step, rows_left,
                                                                                        columns_left);
  else
    napkin_gather_tile<rows, columns, bits, threads>(tile, from, row_step, column_step, rows_left, columns_left);
}
