// Two numbers in the halves of a register.
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
// Intrinsics, of which a compiler computes one where several have the same argument.
__device__ __forceinline__ float napkin_reciprocal(float a) { return __fdividef(1.0f, a); }
__device__ __forceinline__ float napkin_fast_rsqrt(float a) { return rsqrtf(a); }
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
// Reads the same number for all `threads` threads.
template <int threads, class T>
__device__ __forceinline__ T napkin_read_once(const T* at) {
  return *at;
}
// Reads the 32 aligned bytes around 16 bytes at any address.
__device__ __forceinline__ void napkin_read_around(unsigned* words, const void* at) {
  const char* const begin = static_cast<const char*>(at) - reinterpret_cast<size_t>(at) % 16;
  const uint4* const from = reinterpret_cast<const uint4*>(begin);  // known to be in global memory
  const uint4 first = from[0], second = from[1];
  words[0] = first.x, words[1] = first.y, words[2] = first.z, words[3] = first.w;
  words[4] = second.x, words[5] = second.y, words[6] = second.z, words[7] = second.w;
}
