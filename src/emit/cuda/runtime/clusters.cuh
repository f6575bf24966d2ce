// A warp has read the tiles of a pipeline's copy, which the blocks of a cluster fill together: all of them are told.
template <int blocks>
__device__ __forceinline__ void napkin_release_cluster(napkin_barrier* empty) {
  __syncwarp();
  if (threadIdx.x % 32 < blocks) napkin_barrier_arrive_at(empty, threadIdx.x % 32);
}
