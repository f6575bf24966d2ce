// Numbers of an array that share bytes, from one of them on.
template <class T>
struct napkin_packed {
  const T* from;
  long long at;
  __device__ __forceinline__ napkin_packed operator+(long long further) const { return {from, at + further}; }
};
template <class T>
__device__ __forceinline__ typename T::number napkin_global_read(napkin_packed<T> one) {
  return napkin_number<T>(napkin_global_read(one.from + (one.at >> 1)).two >> ((one.at & 1) * 4));
}
template <int threads, class T>
__device__ __forceinline__ typename T::number napkin_read_once(napkin_packed<T> one) {
  return napkin_number<T>(napkin_read_once<threads>(one.from + (one.at >> 1)).two >> ((one.at & 1) * 4));
}
// So many numbers of which the first begins a byte, as many as fill words, one by one in their registers.
template <int words, class T>
__device__ __forceinline__ void napkin_read_packed(napkin_packed<T> from, unsigned (&fours)[2 * words]) {
#pragma unroll
  for (int i = 0; i < words; ++i) {
    const unsigned eight = napkin_global_read(reinterpret_cast<const unsigned*>(from.from + (from.at >> 1)) + i);
    fours[2 * i] = T::four(eight);
    fours[2 * i + 1] = T::four(eight >> 16);
  }
}
template <class T>
__device__ __forceinline__ bool napkin_begins_word(napkin_packed<T> one) {
  return one.at % 8 == 0 && (reinterpret_cast<size_t>(one.from) + one.at / 2) % 4 == 0;
}
// Reads from a row with `left` numbers left, and 0 beyond its end. Two numbers that share a byte are read at once.
template <int words, class T>
__device__ __forceinline__ void napkin_read_packed(napkin_packed<T> from, long long step, int left,
                                                   unsigned (&fours)[2 * words]) {
  if (step == 1 && left >= 8 * words && napkin_begins_word(from)) return napkin_read_packed<words>(from, fours);
  const bool pairs = step == 1 && from.at % 2 == 0;
#pragma unroll
  for (int i = 0; i < 2 * words; ++i) {
    fours[i] = 0;
    for (int n = 4 * i; n < min(left, 4 * i + 4); n += pairs ? 2 : 1) {
      const napkin_packed<T> one = from + n * step;
      const unsigned codes = napkin_global_read(one.from + (one.at >> 1)).two >> ((one.at & 1) * 4);
      fours[i] |= (T::four(codes) & (pairs && n + 1 < left ? 0xffffu : 0xffu)) << (n % 4 * 8);
    }
  }
}
