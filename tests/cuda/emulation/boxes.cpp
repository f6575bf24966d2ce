// Barriers in shared memory, and boxes that arrive at them.
#include "emulation.hpp"

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* array,
                                const cuuint64_t* sizes, const cuuint64_t* steps, const cuuint32_t* box,
                                const cuuint32_t* strides, CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  ++emulation::questions;
  const unsigned bytes = 1U << (type == CU_TENSOR_MAP_DATA_TYPE_UINT64 ? 3 : type);
  const unsigned span = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 0 : 16U << swizzle;
  if (rank < 1 || rank > 5 || reinterpret_cast<std::uintptr_t>(array) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
  if (box[0] * bytes % 16 != 0 || (span > 0 && box[0] * bytes > span)) return CUDA_ERROR_INVALID_VALUE;
  *map = {static_cast<const unsigned char*>(array), {}, {}, {}, rank, bytes, span};
  for (unsigned i = 0; i < rank; ++i) {
    if (sizes[i] < 1 || box[i] < 1 || box[i] > 256 || strides[i] != 1) return CUDA_ERROR_INVALID_VALUE;
    if (i + 1 < rank && (steps[i] % 16 != 0 || steps[i] >= 1ULL << 40)) return CUDA_ERROR_INVALID_VALUE;
    map->sizes[i] = sizes[i], map->box[i] = box[i];
    map->steps[i] = i == 0 ? bytes : steps[i - 1];
  }
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** found, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  *result = cudaDriverEntryPointSuccess;
  if (std::strcmp(name, "cuTensorMapEncodeTiled") != 0 || emulation::lacks("encoder"))
    return emulation::gives(cudaErrorInvalidValue);
  *found = reinterpret_cast<void*>(&cuTensorMapEncodeTiled);
  return cudaSuccess;
}

unsigned napkin_shared_address(const void* at) {
  return static_cast<unsigned>(static_cast<const unsigned char*>(at) - shared_memory);
}

namespace emulation {

Barrier& barrier_at(std::size_t place) {
  const auto found = barriers.find(static_cast<int>(place));
  if (found == barriers.end()) fail("a barrier that nobody began");
  if (races(found->second.began, touch_of(thread_number()))) fail("a barrier that may not have begun");
  return found->second;
}

void end_cluster(std::size_t blocks) {
  const auto warps_of_block = threads_of_block / 32;
  for (std::size_t block = 0; blocks > 1 && block < blocks; ++block) {
    Clock known{};
    for (std::size_t w = 0; w < warps_of_block; ++w) learn(known, clocks[block * warps_of_block + w]);
    for (std::size_t w = 0; w < most_warps; ++w)
      if (known[w] < reached[block][w]) fail("the memory of a block that may have ended");
  }
  reached.fill({});
}

std::size_t there(std::size_t place, unsigned rank) {
  const auto blocks = static_cast<unsigned>(watches.size() / span);
  if (rank >= blocks) fail("a block of the cluster that there is not");
  const auto first = rank * threads_of_block;
  if (all_done(first, threads_of_block)) fail("the memory of a block that may have ended");
  const auto warp = warp_of(thread_number());
  reached[rank][warp] = clocks[warp][warp];
  return place % span + rank * span;
}

void complete_phase(Barrier& barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  ++barrier.phases;
  barrier.pending = barrier.expected;
  barrier.complete = barrier.told;
  barrier.complete_phases = barrier.told_phases;
}

void land_copies(int place, Barrier& barrier) {
  for (const auto& copy : barrier.copies)
    for (std::size_t i = 0; i < copy.places.size(); ++i) {
      std::memcpy(all_memories + copy.places[i], copy.data.data() + i * chunk_bytes, chunk_bytes);
      for (std::size_t byte = copy.places[i]; byte < copy.places[i] + chunk_bytes; ++byte) {
        watches[byte].state = State::written;
        watches[byte].write = Touch{-1, 0, 0, place, barrier.phases + 1};
      }
      barrier.bytes -= static_cast<long long>(chunk_bytes);
    }
  if (barrier.copies.empty()) return;
  barrier.copies.clear();
  complete_phase(barrier);
}

void arrive(Barrier& barrier) {
  const auto warp = warp_of(thread_number());
  if (barrier.pending == 0) fail("more arrive at a barrier than it expects");
  learn(barrier.told, clocks[warp]);
  learn(barrier.told_phases, arrived[warp]);
  ++clocks[warp][warp];
  --barrier.pending;
  complete_phase(barrier);
}

void land_later(const Landing& landing, std::size_t barrier, std::optional<unsigned> blocks) {
  for (unsigned rank = 0; rank < most_blocks; ++rank) {
    if (blocks ? (*blocks >> rank & 1U) == 0 : rank > 0) continue;
    auto& arrives = barrier_at(blocks ? there(barrier, rank) : barrier);
    if (!arrives.published) fail("a copy arrives at a barrier that was not published");
    auto copy = landing;
    for (auto& place : copy.places) {
      if (blocks) place = there(place, rank);
      watch_write_at(place, chunk_bytes, thread_number(), State::on_its_way);
    }
    arrives.copies.push_back(std::move(copy));
  }
}

void copy_box(void* to, const CUtensorMap& map, napkin_barrier* barrier, std::vector<int> at,
              std::optional<unsigned> blocks) {
  if (at.size() != map.rank) fail("a copy of an array of other dimensions");
  const auto begin = static_cast<std::size_t>(napkin_shared_address(to));
  if (begin % 128 != 0) fail("a box at an address that is not a multiple of 128");
  std::reverse(at.begin(), at.end());
  std::size_t entries = 1;
  for (unsigned i = 0; i < map.rank; ++i) entries *= map.box[i];
  Landing landing;
  landing.data.assign(entries * map.bytes, 0);
  for (std::size_t entry = 0; entry < entries; ++entry) {
    auto rest = entry;
    bool inside = true;
    const auto* from = map.array;
    for (unsigned i = 0; i < map.rank; ++i) {
      const auto position = at[i] + static_cast<long long>(rest % map.box[i]);
      rest /= map.box[i];
      inside = inside && position >= 0 && position < static_cast<long long>(map.sizes[i]);
      if (inside) from += static_cast<std::uint64_t>(position) * map.steps[i];
    }
    if (!inside) continue;
    std::memcpy(landing.data.data() + entry * map.bytes, from, map.bytes);
    counts.read_bytes += map.bytes;
  }
  for (std::size_t offset = 0; offset < landing.data.size(); offset += chunk_bytes) {
    auto place = begin + offset;
    if (map.swizzle > 0) place ^= ((place >> 7) & (map.swizzle / chunk_bytes - 1)) << 4;
    landing.places.push_back(place_of(shared_memory + place, chunk_bytes));
  }
  land_later(landing, place_of(barrier, sizeof *barrier), blocks);
}

}  // namespace emulation

void napkin_barrier_begin(napkin_barrier* barrier, int arrivals) {
  const auto place = static_cast<int>(emulation::place_of(barrier, sizeof *barrier));
  auto& begun = emulation::barriers[place];
  begun.expected = begun.pending = arrivals;
  begun.began = emulation::touch_of(emulation::thread_number());
}

void napkin_barrier_arrive_at(napkin_barrier* barrier, unsigned rank) {
  emulation::arrive(emulation::barrier_at(emulation::there(emulation::place_of(barrier, sizeof *barrier), rank)));
}

void napkin_cluster_meet() {
  emulation::current->waits = emulation::Waits::cluster;
  emulation::leave();
}

void napkin_barrier_publish() {
  for (auto& [place, barrier] : emulation::barriers) barrier.published = true;
}

void napkin_barrier_expect(napkin_barrier* barrier, int bytes) {
  auto& awaited = emulation::barrier_at(barrier);
  awaited.bytes += bytes;
  emulation::arrive(awaited);
}

namespace emulation {

// Whether the barrier was complete when the thread went on.
static bool await(napkin_barrier* barrier, int parity, Waits how) {
  auto& awaited = barrier_at(barrier);
  const auto place = static_cast<int>(place_of(barrier, sizeof *barrier));
  const auto complete = [&awaited, parity] { return (awaited.phases & 1) != parity; };
  current->ready = [&awaited, place, complete] {
    land_copies(place, awaited);
    return complete();
  };
  current->waits = how;
  leave();
  if (!complete()) return false;
  const auto warp = warp_of(thread_number());
  learn(clocks[warp], awaited.complete);
  learn(arrived[warp], awaited.complete_phases);
  arrived[warp][place] = awaited.phases;
  return true;
}

}  // namespace emulation

void napkin_barrier_wait(napkin_barrier* barrier, int parity) {
  emulation::await(barrier, parity, emulation::Waits::barrier);
}

bool napkin_barrier_try(napkin_barrier* barrier, int parity) {
  return emulation::await(barrier, parity, emulation::Waits::attempt);
}

void napkin_copy_box_1d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0) {
  emulation::copy_box(to, *map, barrier, {at0});
}

void napkin_copy_box_2d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0, int at1) {
  emulation::copy_box(to, *map, barrier, {at0, at1});
}

void napkin_copy_box_3d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0, int at1, int at2) {
  emulation::copy_box(to, *map, barrier, {at0, at1, at2});
}

void napkin_copy_box_4d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0, int at1, int at2, int at3) {
  emulation::copy_box(to, *map, barrier, {at0, at1, at2, at3});
}

void napkin_copy_box_5d(void* to, const CUtensorMap* map, napkin_barrier* barrier, int at0, int at1, int at2, int at3,
                        int at4) {
  emulation::copy_box(to, *map, barrier, {at0, at1, at2, at3, at4});
}

void napkin_copy_box_1d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0) {
  emulation::copy_box(to, *map, barrier, {at0}, blocks);
}

void napkin_copy_box_2d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0, int at1) {
  emulation::copy_box(to, *map, barrier, {at0, at1}, blocks);
}

void napkin_copy_box_3d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0, int at1, int at2) {
  emulation::copy_box(to, *map, barrier, {at0, at1, at2}, blocks);
}

void napkin_copy_box_4d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0, int at1, int at2, int at3) {
  emulation::copy_box(to, *map, barrier, {at0, at1, at2, at3}, blocks);
}

void napkin_copy_box_5d_shared(void* to, const CUtensorMap* map, napkin_barrier* barrier, unsigned short blocks,
                               int at0, int at1, int at2, int at3, int at4) {
  emulation::copy_box(to, *map, barrier, {at0, at1, at2, at3, at4}, blocks);
}
