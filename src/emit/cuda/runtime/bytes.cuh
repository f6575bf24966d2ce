// What a warp computed, as an operand of 8 bits. Of 16 positions each lane of a quad has two in the first eight and two
// in the other eight, in this order in `mine`; the instruction takes four that follow each other, which two lanes have.
__device__ __forceinline__ unsigned napkin_exchange_bytes(unsigned mine) {
  const int lane = threadIdx.x % 32, from = lane / 4 * 4 + lane % 2 * 2;
  const unsigned first = __shfl_sync(0xffffffffu, mine, from), second = __shfl_sync(0xffffffffu, mine, from + 1);
  return lane % 4 < 2 ? (first & 0xffffu) | second << 16 : first >> 16 | (second & 0xffff0000u);
}
__device__ __forceinline__ unsigned napkin_pack_i8(int a, int b, int c, int d) {
  return (unsigned(a) & 0xffu) | (unsigned(b) & 0xffu) << 8 | (unsigned(c) & 0xffu) << 16 |
         unsigned(d) << 24;
}
