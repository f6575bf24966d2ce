// All threads of a block copy a tile whose numbers share bytes in the array and stand one by one in the tile. Each thread
// has 16 numbers of a row on their way.
template <int, int rows, int columns, int bits, int threads, class T>
__device__ __forceinline__ void napkin_load_tile(typename T::number* tile, napkin_packed<T> from, long long row_step,
                                                 long long column_step, int rows_left, int columns_left) {
  constexpr int chunks = columns / 16;
#pragma unroll 2
  for (int i = threadIdx.x; i < rows * chunks; i += threads) {
    const int row = i / chunks, column = i % chunks * 16;
    const int left = row < rows_left ? columns_left - column : 0;
    napkin_sixteen numbers;
    napkin_read_packed<2>(from + (row * row_step + column * column_step), column_step, left, numbers.fours);
    napkin_shared_write(reinterpret_cast<napkin_sixteen*>(tile + napkin_place<columns, 1, bits>(row, column)), numbers);
  }
}
