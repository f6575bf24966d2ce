// Four numbers of f8 in a register.
__device__ __forceinline__ unsigned napkin_pack_f8e4m3(float a, float b, float c, float d) {
  return __nv_fp8x4_e4m3(make_float4(a, b, c, d)).__x;
}
__device__ __forceinline__ unsigned napkin_pack_f8e5m2(float a, float b, float c, float d) {
  return __nv_fp8x4_e5m2(make_float4(a, b, c, d)).__x;
}
