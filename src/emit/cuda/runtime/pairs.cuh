// Two numbers side by side into a tile that leaves.
template <class T>
__device__ __forceinline__ void napkin_stage_pair(T* at, T first, T second) {
  napkin_shared_write(reinterpret_cast<napkin_pair<T>*>(at), napkin_pair<T>{first, second});
}
