// Number formats as arrays hold them, decoded to double and encoded from it, in the same C++ on a device and on a host;
// and loops over many indices, which are kernels where nvcc compiles them.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define EVERYWHERE __host__ __device__
template <class Body>
__global__ void napkin_each_kernel(long long count, Body body) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count;
       i += (long long)gridDim.x * blockDim.x)
    body(i);
}
// Calls body(i) for every i below count, on a stream.
template <class Body>
int napkin_each(long long count, const Body& body, void* stream) {
  if (count <= 0) return 0;
  const long long blocks = (count + 255) / 256;
  napkin_each_kernel<<<(unsigned)(blocks < 65536 ? blocks : 65536), 256, 0, (cudaStream_t)stream>>>(count, body);
  return (int)cudaGetLastError();
}
#else
#define EVERYWHERE
template <class Body>
int napkin_each(long long count, const Body& body, void*) {
  for (long long i = 0; i < count; ++i) body(i);
  return 0;
}
#endif

// The numbers of types in a manifest.
enum NapkinType {
  type_f64,
  type_f32,
  type_tf32,
  type_f16,
  type_bf16,
  type_f8e4m3,
  type_f8e5m2,
  type_i8,
  type_i32,
  type_bool,
  type_f8e8m0,
  type_f4e2m1,
  type_i4
};

// A format of floating point: bits of fraction and exponent, and whether it has infinities.
struct NapkinFormat {
  int fraction, exponent;
  bool infinite;
};
EVERYWHERE inline NapkinFormat napkin_format(int type) {
  switch (type) {
    case type_f16:
      return {10, 5, true};
    case type_bf16:
      return {7, 8, true};
    case type_f8e4m3:
      return {3, 4, false};
    case type_f8e5m2:
      return {2, 5, true};
    default:
      return {23, 8, true};
  }
}

EVERYWHERE inline double napkin_decode_bits(unsigned bits, NapkinFormat f) {
  const int bias = (1 << (f.exponent - 1)) - 1, last = (1 << f.exponent) - 1;
  const int power = (int)(bits >> f.fraction) & last;
  const unsigned fraction = bits & ((1U << f.fraction) - 1);
  const double sign = (bits >> (f.fraction + f.exponent)) & 1 ? -1.0 : 1.0;
  if (power == last && f.infinite) return fraction ? NAN : sign * INFINITY;
  if (!f.infinite && power == last && fraction == (1U << f.fraction) - 1) return NAN;
  if (power == 0) return sign * ldexp((double)fraction, 1 - bias - f.fraction);
  return sign * ldexp(1.0 + ldexp((double)fraction, -f.fraction), power - bias);
}

// The nearest number of the format, ties to even; 8 bits saturate.
EVERYWHERE inline double napkin_nearest(double value, NapkinFormat f) {
  if (!(value - value == 0)) return value;
  const int bias = (1 << (f.exponent - 1)) - 1;
  int power = 0;
  frexp(value, &power);
  const int least = 1 - bias, grain = (power - 1 > least ? power - 1 : least) - f.fraction;
  const double rounded = ldexp(rint(ldexp(value, -grain)), grain);
  const int top = f.infinite ? bias : bias + 1;
  const double greatest = ldexp(2 - ldexp(f.infinite ? 1.0 : 2.0, -f.fraction), top);
  if (fabs(rounded) <= greatest) return rounded;
  return copysign(f.fraction <= 3 ? greatest : INFINITY, value);
}

EVERYWHERE inline double napkin_round(double value, int type) {
  switch (type) {
    case type_f64:
      return value;
    case type_f32:
    case type_tf32:
      return (double)(float)value;
    case type_bool:
      return value != 0;
    case type_i8:
      return fmin(fmax(rint(value), -128.0), 127.0);
    case type_i32:
      return fmin(fmax(rint(value), -2147483648.0), 2147483647.0);
    default:
      return napkin_nearest(value, napkin_format(type));
  }
}

EVERYWHERE inline unsigned napkin_encode_bits(double value, NapkinFormat f) {
  const int bias = (1 << (f.exponent - 1)) - 1, last = (1 << f.exponent) - 1;
  const unsigned sign = (std::signbit(value) ? 1U : 0U) << (f.fraction + f.exponent);
  if (value != value) return sign | ((unsigned)last << f.fraction) | ((1U << f.fraction) - 1);
  value = fabs(napkin_nearest(value, f));
  if (value == INFINITY) return sign | ((unsigned)last << f.fraction);
  int power = 0;
  frexp(value, &power);
  const int placed = value == 0 || power - 1 < 1 - bias ? 0 : power - 1 + bias;
  const double grain = ldexp(value, f.fraction - (placed ? power - 1 : 1 - bias));
  return sign | (((unsigned)placed << f.fraction) + (unsigned)grain - (placed ? 1U << f.fraction : 0U));
}

// Of two numbers to a byte, the first in the low half.
EVERYWHERE inline bool napkin_packed(int type) { return type == type_f4e2m1 || type == type_i4; }
EVERYWHERE inline double napkin_unpack(unsigned bits, int type) {
  if (type == type_i4) return (double)((int)(bits & 7) - (int)(bits & 8));
  const int power = (int)(bits >> 1) & 3;
  const double size = power ? ldexp(1.0 + 0.5 * (bits & 1), power - 1) : 0.5 * (bits & 1);
  return bits & 8 ? -size : size;
}
// The nearest of all sixteen, the first of two that are as near.
EVERYWHERE inline unsigned napkin_pack(double value, int type) {
  unsigned best = 0;
  for (unsigned bits = 1; bits < 16; ++bits)
    if (fabs(napkin_unpack(bits, type) - value) < fabs(napkin_unpack(best, type) - value)) best = bits;
  return best;
}

EVERYWHERE inline int napkin_bytes(int type) {
  switch (type) {
    case type_f64:
      return 8;
    case type_f16:
    case type_bf16:
      return 2;
    case type_f8e4m3:
    case type_f8e5m2:
    case type_i8:
    case type_bool:
    case type_f8e8m0:
      return 1;
    default:
      return 4;
  }
}

EVERYWHERE inline float napkin_single(unsigned bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  float value;
  memcpy(&value, &bits, 4);
  return value;
#endif
}

// f16 by way of a single: its exponent moved up by 112, which also has what is below the least normal number.
EVERYWHERE inline double napkin_half(unsigned bits) {
  const unsigned rest = bits & 0x7fff;
  const float size = rest >= 0x7c00 ? (rest > 0x7c00 ? NAN : INFINITY)
                                    : napkin_single(rest << 13) * 5192296858534827628530496329220096.0f;
  return bits & 0x8000 ? -(double)size : (double)size;
}

EVERYWHERE inline double napkin_load(const void* array, long long at, int type) {
  switch (type) {
    case type_f64:
      return ((const double*)array)[at];
    case type_f32:
    case type_tf32:
      return ((const float*)array)[at];
    case type_f16:
      return napkin_half(((const uint16_t*)array)[at]);
    case type_bf16:
      return napkin_single((unsigned)((const uint16_t*)array)[at] << 16);
    case type_i32:
      return ((const int32_t*)array)[at];
    case type_i8:
      return ((const int8_t*)array)[at];
    case type_bool:
      return ((const uint8_t*)array)[at] != 0;
    case type_f8e8m0:
      return ldexp(1.0, (int)((const uint8_t*)array)[at] - 127);
    case type_f4e2m1:
    case type_i4:
      return napkin_unpack((unsigned)((const uint8_t*)array)[at / 2] >> at % 2 * 4 & 15, type);
    default:
      return napkin_decode_bits(((const uint8_t*)array)[at], napkin_format(type));
  }
}

EVERYWHERE inline void napkin_store(void* array, long long at, int type, double value) {
  switch (type) {
    case type_f64:
      ((double*)array)[at] = value;
      return;
    case type_f32:
    case type_tf32:
      ((float*)array)[at] = (float)value;
      return;
    case type_f16:
    case type_bf16:
      ((uint16_t*)array)[at] = (uint16_t)napkin_encode_bits(value, napkin_format(type));
      return;
    case type_i32:
      ((int32_t*)array)[at] = (int32_t)napkin_round(value, type);
      return;
    case type_i8:
      ((int8_t*)array)[at] = (int8_t)napkin_round(value, type);
      return;
    case type_bool:
      ((uint8_t*)array)[at] = value != 0;
      return;
    case type_f8e8m0:
      ((uint8_t*)array)[at] = (uint8_t)(rint(log2(value)) + 127);
      return;
    default:
      ((uint8_t*)array)[at] = (uint8_t)napkin_encode_bits(value, napkin_format(type));
  }
}

EVERYWHERE inline long long napkin_floor(long long a, long long b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
EVERYWHERE inline double napkin_square(double x) { return x * x; }
EVERYWHERE inline double napkin_sigmoid(double x) { return 1 / (1 + exp(-x)); }
EVERYWHERE inline double napkin_larger(double a, double b) { return a != a || b != b ? NAN : a > b ? a : b; }
EVERYWHERE inline double napkin_smaller(double a, double b) { return a != a || b != b ? NAN : a < b ? a : b; }
