// Numbers side by side, which go from and to memory 16 bytes at a time.
template <class T, int count>
struct alignas(count * sizeof(T) < 16 ? count * sizeof(T) : 16) napkin_values {
  T at[count];
};

// A vector of an array: `left` numbers are left, and the rest of the vector is 0.
template <int count, class T>
__device__ __forceinline__ napkin_values<T, count> napkin_read_vector(const T* from, int left) {
  using Values = napkin_values<T, count>;
  if (left >= count && reinterpret_cast<size_t>(from) % alignof(Values) == 0)
    return napkin_global_read(reinterpret_cast<const Values*>(from));
  Values all;
#pragma unroll
  for (int i = 0; i < count; ++i) all.at[i] = i < left ? napkin_global_read(from + i) : T();
  return all;
}
// A lane's vectors of a row, `step` numbers apart. One look at alignment and length serves them all, so that no load waits
// for another.
template <int step, int vectors, int count, class T>
__device__ __forceinline__ void napkin_read_vectors(napkin_values<T, count> (&to)[vectors], const T* from, int left) {
  using Values = napkin_values<T, count>;
  if (left % count == 0 && reinterpret_cast<size_t>(from) % alignof(Values) == 0) {
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      to[v] = v * step < left ? napkin_global_read(reinterpret_cast<const Values*>(from + v * step)) : Values();
  } else {
#pragma unroll
    for (int v = 0; v < vectors; ++v) to[v] = napkin_read_vector<count>(from + v * step, left - v * step);
  }
}
template <class T, int count>
__device__ __forceinline__ void napkin_write_vector(T* to, const napkin_values<T, count>& all, int left) {
  using Values = napkin_values<T, count>;
  if (left >= count && reinterpret_cast<size_t>(to) % alignof(Values) == 0)
    return napkin_global_write(reinterpret_cast<Values*>(to), all);
#pragma unroll
  for (int i = 0; i < count; ++i)
    if (i < left) napkin_global_write(to + i, all.at[i]);
}

// What the lanes of a warp have, joined: all of them then have it.
template <class T, class Join>
__device__ __forceinline__ T napkin_join_lanes(T mine, Join join) {
#pragma unroll
  for (int mask = 1; mask < 32; mask *= 2) mine = join(mine, __shfl_xor_sync(0xffffffffu, mine, mask));
  return mine;
}
// What the warps of a block have, a power of two of them. One barrier is enough: partial results change between two
// places, so that the next ones do not meet a warp that still reads.
template <int warps, class T, class Join>
__device__ __forceinline__ T napkin_join_warps(T mine, Join join, unsigned char* shared_memory, int& slot) {
  T* const partial = reinterpret_cast<T*>(shared_memory + slot * warps * 8);
  slot ^= 1;
  if (threadIdx.x % 32 == 0) napkin_shared_write(partial + threadIdx.x / 32, mine);
  __syncthreads();
  mine = napkin_shared_read(partial + threadIdx.x % warps);
#pragma unroll
  for (int mask = 1; mask < warps; mask *= 2) mine = join(mine, __shfl_xor_sync(0xffffffffu, mine, mask));
  return mine;
}
