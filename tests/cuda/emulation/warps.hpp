// Warps on the host: lanes that meet, matrix instructions, shuffles, matrix loads and copies that land later, each as
// the PTX ISA documents it, written down here a second time. Shared memory is watched byte by byte: what nobody wrote,
// what is still on its way, and what two threads touch without a barrier between them is an error. Bank conflicts and
// bytes from and to global memory are counted; with NAPKIN_EMULATION_COUNTS set the counts go to standard error.
#pragma once

#include <array>
#include <deque>

#define NAPKIN_EMULATION 1

namespace emulation {

// Counts

struct Counts {
  long long read_bytes = 0, written_bytes = 0;  // of global memory, as far as it is touched by the functions below
  long long load_conflicts = 0, store_conflicts = 0;  // of matrix loads and stores
  long long matrix_operations = 0, warpgroup_operations = 0, matrix_loads = 0, barriers = 0, boxes_left = 0;
  ~Counts() {
    if (std::getenv("NAPKIN_EMULATION_COUNTS"))
      std::fprintf(stderr,
                   "read_bytes %lld\nwritten_bytes %lld\nload_conflicts %lld\nstore_conflicts %lld\n"
                   "matrix_operations %lld\nwarpgroup_operations %lld\nmatrix_loads %lld\nbarriers %lld\n"
                   "boxes_left %lld\n",
                   read_bytes, written_bytes, load_conflicts, store_conflicts, matrix_operations, warpgroup_operations,
                   matrix_loads, barriers, boxes_left);
  }
};
extern Counts counts;

// Shared memory byte by byte

enum class State : std::uint8_t { unwritten, on_its_way, written };
// Who touched a byte last, at which time of his warp, and in which stretch between meetings of the warp. What a copy
// wrote that arrives at a barrier in shared memory belongs to a phase of the barrier instead.
struct Touch {
  int thread = -1, time = 0, warp_time = 0;
  int barrier = -1, phase = 0;
};
struct Watch {
  State state = State::unwritten;
  int fences = 0;  // that the writer had passed
  Touch write, read;
};
extern std::map<int, int> fences;  // by thread: what it wrote before is known to copies
extern std::vector<Watch> watches;
constexpr std::size_t most_warps = 64, chunk_bytes = 16;  // of a cluster's blocks
extern std::array<int, most_warps> warp_time;

// What every warp knows of the others: their time up to which all that they did is done for it. A warp's own time goes
// on whenever it tells others; they learn it where they wait for that.
using Clock = std::array<int, most_warps>;
extern std::array<Clock, most_warps> clocks;
extern std::vector<Clock> reads;             // of chunks, by every warp
extern std::vector<int> reads_on_their_way;  // of chunks, by products that run while their warpgroup goes on
extern std::array<std::map<int, int>, most_warps> arrived;  // phases of barriers that a warp knows complete

void learn(Clock& clock, const Clock& other);
void learn(std::map<int, int>& phases, const std::map<int, int>& other);
void count_barrier(unsigned first, unsigned count);

inline int thread_number() { return static_cast<int>(current - fibers.data()); }  // of the cluster
inline std::size_t warp_of(int thread) { return static_cast<std::size_t>(thread / 32); }
Touch touch_of(int thread);
// Whether what `earlier` did may still be going on when `now` comes.
bool races(const Touch& earlier, const Touch& now);

// Places count through the memories of all blocks of a cluster; where that of the block at hand begins.
inline std::size_t own_memory() { return memories_file < 0 ? 0 : block_at_hand * span; }
std::size_t place_of(const void* pointer, std::size_t bytes);
void watch_read(const void* pointer, std::size_t bytes, int thread);
// Whether another warp read the chunk and has not told this one since.
bool read_since(std::size_t chunk, std::size_t warp);
bool known_to_copies(const Watch& watch);
void watch_write_at(std::size_t place, std::size_t bytes, int thread, State state);

void watch_write(const void* pointer, std::size_t bytes, int thread, State state);

// How often more than once banks are asked for places read or written together.
long long conflicts(const std::vector<std::size_t>& places, std::size_t bytes);

// Lanes that meet

// Every lane brings a record; once all 32 are there, `meet` sees them all and fills in what comes of it.
using Meeting = void (*)(std::array<void*, 32>& lanes);
void meet(Meeting meeting, void* record);
// Before a meeting: the 32 records of a warp.
void hold_meeting(unsigned first);

// Copies on their way

struct Copy {
  void* to;
  std::array<unsigned char, 16> data;
  int bytes;
};
struct Copies {
  std::vector<Copy> open;
  std::deque<std::vector<Copy>> groups;
};
extern std::vector<Copies> copies;  // of every thread

void land(const std::vector<Copy>& group, int thread);

void begin_warpgroups(unsigned threads);
void end_warpgroups();
void end_stores();
void end_cluster(std::size_t blocks);
void begin_block(unsigned threads);
void end_block();

// Matrix fragments, as the PTX ISA draws them: g is the lane's group of four, t its number there.

template <class Number>
double entry(const unsigned* registers, int i) {
  Number number;
  std::memcpy(&number, reinterpret_cast<const unsigned char*>(registers) + static_cast<std::size_t>(i) * sizeof number,
              sizeof number);
  return static_cast<double>(static_cast<float>(number));
}

template <class Sum>
struct Product {
  Sum* c;
  const unsigned *a, *b;
};

// m16n8k16 of 2-byte operands: a0 a1 at row g, columns 2t, 2t+1; a2 a3 at row g+8; a4..a7 the same, 8 columns on, which
// m16n8k8 does not have.
template <class Number, int depth>
void m16n8_of_halves(std::array<void*, 32>& lanes) {
  double a[16][depth], b[depth][8];
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<Product<float>*>(lanes[static_cast<std::size_t>(lane)]);
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < depth / 2; ++i)
      a[i % 4 < 2 ? g : g + 8][t * 2 + i % 2 + (i >= 4 ? 8 : 0)] = entry<Number>(mine.a, i);
    for (int i = 0; i < depth / 4; ++i) b[t * 2 + i % 2 + (i >= 2 ? 8 : 0)][g] = entry<Number>(mine.b, i);
  }
  for (int lane = 0; lane < 32; ++lane) {
    auto& mine = *static_cast<Product<float>*>(lanes[static_cast<std::size_t>(lane)]);
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
      double sum = static_cast<double>(mine.c[i]);
      for (int k = 0; k < depth; ++k) sum += a[i < 2 ? g : g + 8][k] * b[k][t * 2 + i % 2];
      mine.c[i] = static_cast<float>(sum);
    }
  }
  ++counts.matrix_operations;
}

// m16n8k8 of tf32: a0 at row g, column t; a1 at row g+8; a2, a3 the same, 4 columns on. b0 at row t, b1 at row t+4.
void m16n8k8_tf32(std::array<void*, 32>& lanes);

// What a matrix unit keeps of a sum of products of f8 after an instruction: 13 bits behind the first, and no more.
inline float few_bits(double sum) {
  auto kept = static_cast<float>(sum);
  unsigned bits = 0;
  std::memcpy(&bits, &kept, sizeof bits);
  bits &= ~0x3ffU;
  std::memcpy(&kept, &bits, sizeof bits);
  return kept;
}

// m16n8k32 of bytes: a0..a3 at row g, columns 4t..4t+3; a4..a7 at row g+8; a8..a15 the same, 16 columns on.
template <class Number, class Sum>
void m16n8k32(std::array<void*, 32>& lanes) {
  double a[16][32], b[32][8];
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<Product<Sum>*>(lanes[static_cast<std::size_t>(lane)]);
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 16; ++i)
      a[i < 4 || (i >= 8 && i < 12) ? g : g + 8][t * 4 + i % 4 + (i >= 8 ? 16 : 0)] = entry<Number>(mine.a, i);
    for (int i = 0; i < 8; ++i) b[t * 4 + i % 4 + (i >= 4 ? 16 : 0)][g] = entry<Number>(mine.b, i);
  }
  for (int lane = 0; lane < 32; ++lane) {
    auto& mine = *static_cast<Product<Sum>*>(lanes[static_cast<std::size_t>(lane)]);
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
      double sum = static_cast<double>(mine.c[i]);
      for (int k = 0; k < 32; ++k) sum += a[i < 2 ? g : g + 8][k] * b[k][t * 2 + i % 2];
      if constexpr (std::is_same_v<Sum, float>)
        mine.c[i] = few_bits(sum);
      else
        mine.c[i] = static_cast<Sum>(sum);
    }
  }
  ++counts.matrix_operations;
}

struct MatrixRows {
  unsigned* to;
  const void* row;
};
template <int count, bool transposed>
void load_matrices(std::array<void*, 32>& lanes) {
  const auto row_of = [&](int i) { return static_cast<MatrixRows*>(lanes[static_cast<std::size_t>(i)])->row; };
  for (int matrix = 0; matrix < count; ++matrix) {
    std::uint16_t entries[8][8];
    std::vector<std::size_t> places;
    for (int row = 0; row < 8; ++row) {
      const auto* from = row_of(matrix * 8 + row);
      watch_read(from, 16, current_warp * 32 + matrix * 8 + row);
      places.push_back(place_of(from, 16));
      std::memcpy(entries[row], from, 16);
    }
    counts.load_conflicts += conflicts(places, 16);
    for (int lane = 0; lane < 32; ++lane) {
      const int row = lane / 4, column = lane % 4 * 2;
      const unsigned low = transposed ? entries[column][row] : entries[row][column];
      const unsigned high = transposed ? entries[column + 1][row] : entries[row][column + 1];
      static_cast<MatrixRows*>(lanes[static_cast<std::size_t>(lane)])->to[matrix] = low | high << 16;
    }
  }
  ++counts.matrix_loads;
}

struct MatrixLeaving {
  void* row;
  const unsigned* from;
};
template <int count, bool transposed>
void store_matrices(std::array<void*, 32>& lanes) {
  const auto lane_of = [&](int i) -> auto& { return *static_cast<MatrixLeaving*>(lanes[static_cast<std::size_t>(i)]); };
  for (int matrix = 0; matrix < count; ++matrix) {
    std::uint16_t entries[8][8];
    for (int lane = 0; lane < 32; ++lane) {
      const int row = lane / 4, column = lane % 4 * 2;
      const auto both = lane_of(lane).from[matrix];
      (transposed ? entries[column][row] : entries[row][column]) = static_cast<std::uint16_t>(both & 0xffff);
      (transposed ? entries[column + 1][row] : entries[row][column + 1]) = static_cast<std::uint16_t>(both >> 16);
    }
    std::vector<std::size_t> places;
    for (int row = 0; row < 8; ++row) {
      auto* to = lane_of(matrix * 8 + row).row;
      places.push_back(place_of(to, 16));
      watch_write(to, 16, current_warp * 32 + matrix * 8 + row, State::written);
      std::memcpy(to, entries[row], 16);
    }
    counts.store_conflicts += conflicts(places, 16);
  }
}

// The lane's own number with some bits changed, or another lane's number.
template <class T>
struct Exchanged {
  T value, result;
  int mask;
  bool of_lane;
};
template <class T>
void exchange(std::array<void*, 32>& lanes) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto& mine = *static_cast<Exchanged<T>*>(lanes[lane]);
    const auto from = (mine.of_lane ? 0U : lane) ^ static_cast<unsigned>(mine.mask);
    mine.result = static_cast<Exchanged<T>*>(lanes[from & 31U])->value;
  }
}

void copy_async(void* to, const void* from, int count, int bytes);

}  // namespace emulation

void __syncwarp(unsigned = 0xffffffffU);
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  emulation::Exchanged<T> record{value, value, mask, false};
  emulation::meet(emulation::exchange<T>, &record);
  return record.result;
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  emulation::Exchanged<T> record{value, value, lane, true};
  emulation::meet(emulation::exchange<T>, &record);
  return record.result;
}

// What emitted kernels call.

void napkin_mma_m16n8k16_f16(float* c, const unsigned* a, const unsigned* b);
void napkin_mma_m16n8k8_f16(float* c, const unsigned* a, const unsigned* b);
void napkin_mma_m16n8k16_bf16(float* c, const unsigned* a, const unsigned* b);
void napkin_mma_m16n8k8_tf32(float* c, const unsigned* a, const unsigned* b);
void napkin_mma_m16n8k32_i8(int* c, const unsigned* a, const unsigned* b);
void napkin_mma_m16n8k32_f8e4m3(float* c, const unsigned* a, const unsigned* b);
void napkin_mma_m16n8k32_f8e5m2(float* c, const unsigned* a, const unsigned* b);

template <int count, bool transposed>
void napkin_load(unsigned* to, const void* row) {
  emulation::MatrixRows record{to, row};
  emulation::meet(emulation::load_matrices<count, transposed>, &record);
}
inline void napkin_load_x1(unsigned* to, const void* row) { napkin_load<1, false>(to, row); }
inline void napkin_load_x2(unsigned* to, const void* row) { napkin_load<2, false>(to, row); }
inline void napkin_load_x4(unsigned* to, const void* row) { napkin_load<4, false>(to, row); }
inline void napkin_load_x1_transposed(unsigned* to, const void* row) { napkin_load<1, true>(to, row); }
inline void napkin_load_x2_transposed(unsigned* to, const void* row) { napkin_load<2, true>(to, row); }
inline void napkin_load_x4_transposed(unsigned* to, const void* row) { napkin_load<4, true>(to, row); }

template <int count, bool transposed>
void napkin_store(void* row, const unsigned* from) {
  emulation::MatrixLeaving record{row, from};
  emulation::meet(emulation::store_matrices<count, transposed>, &record);
}
inline void napkin_store_x4(void* row, const unsigned* from) { napkin_store<4, false>(row, from); }
inline void napkin_store_x4_transposed(void* row, const unsigned* from) { napkin_store<4, true>(row, from); }

inline void napkin_copy_4(void* to, const void* from, int count = 4) { emulation::copy_async(to, from, count, 4); }
inline void napkin_copy_8(void* to, const void* from, int count = 8) { emulation::copy_async(to, from, count, 8); }
inline void napkin_copy_16(void* to, const void* from, int count = 16) { emulation::copy_async(to, from, count, 16); }
void napkin_copy_commit();
template <int groups>
void napkin_copy_wait() {
  auto& mine = emulation::copies[static_cast<std::size_t>(emulation::thread_number())];
  for (; mine.groups.size() > groups; mine.groups.pop_front())
    emulation::land(mine.groups.front(), emulation::thread_number());
}

unsigned napkin_multiply_f16(unsigned a, unsigned b);
inline unsigned napkin_pack_f16(float low, float high) { return __half(low).bits | unsigned(__half(high).bits) << 16; }
unsigned napkin_pack_bf16(float low, float high);
unsigned napkin_pack_f8e4m3(float a, float b, float c, float d);
unsigned napkin_pack_f8e5m2(float a, float b, float c, float d);

inline float napkin_exp2(float a) { return std::exp2(a); }
inline float napkin_reciprocal(float a) { return 1 / a; }
inline float napkin_fast_rsqrt(float a) { return 1 / std::sqrt(a); }

template <class T>
T napkin_shared_read(const T* at) {
  emulation::watch_read(at, sizeof(T), emulation::thread_number());
  return *at;
}
template <class T>
void napkin_shared_write(T* at, T value) {
  emulation::watch_write(at, sizeof(T), emulation::thread_number(), emulation::State::written);
  *at = value;
}
template <class T>
T napkin_global_read(const T* at) {
  emulation::counts.read_bytes += static_cast<long long>(sizeof(T));
  return *at;
}
// The 16 bytes at the address count; those around them only have to be there.
inline void napkin_read_around(unsigned* words, const void* at) {
  emulation::counts.read_bytes += 16;
  std::memcpy(words, reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(at) & ~std::uintptr_t{15}), 32);
}
template <class T>
void napkin_global_write(T* at, T value) {
  if (reinterpret_cast<std::uintptr_t>(at) % alignof(T) != 0) emulation::fail("a write to an address not aligned");
  emulation::counts.written_bytes += static_cast<long long>(sizeof(T));
  *at = value;
}
template <int threads, class T>
T napkin_read_once(const T* at) {
  if (threadIdx.x % threads == 0) emulation::counts.read_bytes += static_cast<long long>(sizeof(T));
  return *at;
}
