// exp(a - b), and exp(a) where b is infinite; b is never less than a. One multiply-add once `c` is known.
__device__ __forceinline__ float napkin_fast_expdiff(float a, float b) {
  const float c = fabsf(b) == INFINITY ? 0.0f : b * -1.44269504f;
  return napkin_exp2(fmaf(a, 1.44269504f, c));
}

