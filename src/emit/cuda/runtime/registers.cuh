// A register of an operand from numbers that were read one by one: in a format that has all of them, or as they are.
template <class T>
__device__ __forceinline__ unsigned napkin_register_tf32(T a) {
  const float wide = float(a);
  unsigned bits;
  memcpy(&bits, &wide, 4);
  return bits;
}
template <class T>
__device__ __forceinline__ unsigned napkin_register_f16(T a, T b) {
  return napkin_pack_f16(float(a), float(b));
}
template <class T>
__device__ __forceinline__ unsigned napkin_register_bf16(T a, T b) {
  return napkin_pack_bf16(float(a), float(b));
}
template <class T>
__device__ __forceinline__ unsigned napkin_register_bytes(T a, T b, T c, T d) {
  const T all[4] = {a, b, c, d};
  unsigned bits;
  memcpy(&bits, all, 4);
  return bits;
}
