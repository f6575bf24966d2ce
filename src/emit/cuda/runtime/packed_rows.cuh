// A vector of an array whose numbers share bytes: `left` numbers are left, and the rest of the vector is 0.
template <int count, class T>
__device__ __forceinline__ napkin_values<typename T::number, count> napkin_read_vector(napkin_packed<T> from,
                                                                                       int left) {
  constexpr int words = (count + 7) / 8;
  napkin_values<typename T::number, count> all;
  unsigned fours[2 * words];
  napkin_read_packed<words>(from, 1, left < count ? left : count, fours);
  memcpy(&all, fours, sizeof all);
  return all;
}
// A lane's vectors of a row of such numbers, `step` numbers apart.
template <int step, int vectors, int count, class T>
__device__ __forceinline__ void napkin_read_vectors(napkin_values<typename T::number, count> (&to)[vectors],
                                                    napkin_packed<T> from, int left) {
#pragma unroll
  for (int v = 0; v < vectors; ++v) to[v] = napkin_read_vector<count>(from + v * step, left - v * step);
}
