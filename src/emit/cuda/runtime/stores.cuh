// All threads of a warpgroup store rows x columns numbers of an output tile, from (row, column) on. rows_left and
// columns_left are how many of them lie inside of the array.
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
