// Where a warpgroup's instructions are: the machine of compute capability 9.0, under its full name, and its emulation.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(NAPKIN_EMULATION)
#define NAPKIN_TEAMS
#endif

// An operand in shared memory as instructions of a warpgroup are told it: where it begins, bytes from panel to panel and from
// eight rows to the next eight, all in units of 16, and within how many bytes its chunks change places.
template <int swizzle, int leading, int stride, class T>
__device__ __forceinline__ unsigned long long napkin_operand(const T* begin) {
  return (napkin_shared_address(begin) & 0x3ffff) >> 4 | (unsigned long long)(leading >> 4) << 16 |
         (unsigned long long)(stride >> 4) << 32 | (unsigned long long)swizzle << 62;
}

#ifdef NAPKIN_DEBUG
// In debug builds a wait gives up after this many tries, and says which barrier of which block it was.
#ifndef NAPKIN_DEBUG_TRIES
#define NAPKIN_DEBUG_TRIES (1 << 26)
#endif
__device__ __forceinline__ void napkin_barrier_wait_or_trap(napkin_barrier* barrier, int parity, const char* kernel,
                                                            const char* name) {
  for (int tries = 0; !napkin_barrier_try(barrier, parity);)
    if (threadIdx.x % 32 == 0 && ++tries >= NAPKIN_DEBUG_TRIES) {
      printf("%s, block %lld, thread %d: the barrier %s, at byte %u of shared memory, is not complete after %d tries (phase %d)\n",
             kernel, blockIdx.x + (long long)blockIdx.y * gridDim.x, (int)threadIdx.x, name,
             napkin_shared_address(barrier), tries, parity);
      __trap();
    }
}
#define napkin_barrier_wait(barrier, parity) napkin_barrier_wait_or_trap(barrier, parity, __func__, #barrier)
#endif

// A warp has read the tiles of a pipeline's copy.
__device__ __forceinline__ void napkin_release(napkin_barrier* empty) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) napkin_barrier_arrive(empty);
}

// Where an entry of a tile in panels stands.
template <int rows, int panel, int bytes, int bits>
__device__ __forceinline__ int napkin_panel_place(int row, int column) {
  return column / panel * (rows * panel) + napkin_place<panel, bytes, bits>(row, column % panel);
}
