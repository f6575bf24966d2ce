// What shared memory is watched for, lanes that meet, and copies on their way.
#include "emulation.hpp"

namespace emulation {

void learn(Clock& clock, const Clock& other) {
  for (std::size_t w = 0; w < most_warps; ++w) clock[w] = max(clock[w], other[w]);
}

void learn(std::map<int, int>& phases, const std::map<int, int>& other) {
  for (const auto& [barrier, phase] : other) phases[barrier] = max(phases[barrier], phase);
}

void count_barrier(unsigned first, unsigned count) {
  ++counts.barriers;
  Clock all{};
  std::map<int, int> phases;
  const auto begin = first / 32, end = (first + count + 31) / 32;
  for (auto w = begin; w < end; ++w) learn(all, clocks[w]), learn(phases, arrived[w]);
  for (auto w = begin; w < end; ++w) {
    arrived[w] = phases;
    clocks[w] = all;
    ++clocks[w][w];
    ++warp_time[w];
  }
}

Touch touch_of(int thread) {
  const auto w = warp_of(thread);
  return {thread, clocks[w][w], warp_time[w]};
}

bool races(const Touch& earlier, const Touch& now) {
  const auto warp = warp_of(now.thread);
  if (earlier.barrier >= 0) return arrived[warp][earlier.barrier] < earlier.phase;
  if (earlier.thread < 0 || earlier.thread == now.thread) return false;
  if (warp_of(earlier.thread) == warp) return earlier.warp_time == now.warp_time;
  return clocks[warp][warp_of(earlier.thread)] < earlier.time;
}

std::size_t place_of(const void* pointer, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(pointer);
  if (at < shared_memory || at + bytes > shared_memory + shared_bytes) fail("outside of the block's shared memory");
  const auto place = static_cast<std::size_t>(at - shared_memory);
  if (place % bytes != 0) fail("shared memory at an address that is not aligned");
  return place + own_memory();
}

void watch_read(const void* pointer, std::size_t bytes, int thread) {
  const auto place = place_of(pointer, bytes);
  const auto now = touch_of(thread);
  for (std::size_t i = place; i < place + bytes; ++i) {
    auto& watch = watches[i];
    if (watch.state == State::unwritten) fail("read of shared memory that nobody wrote");
    if (watch.state == State::on_its_way) fail("read of shared memory that a copy is still on its way to");
    if (races(watch.write, now)) fail("race: read of shared memory that another thread wrote without a barrier");
    auto& read = reads[i / chunk_bytes][warp_of(thread)];
    read = max(read, now.time);
    watch.read = now;
  }
}

bool read_since(std::size_t chunk, std::size_t warp) {
  for (std::size_t w = 0; w < most_warps; ++w)
    if (w != warp && reads[chunk][w] > clocks[warp][w]) return true;
  return false;
}

bool known_to_copies(const Watch& watch) {
  return watch.write.barrier >= 0 || fences[watch.write.thread] > watch.fences;
}

void watch_write_at(std::size_t place, std::size_t bytes, int thread, State state) {
  const auto now = touch_of(thread);
  const auto passed = fences[thread];
  for (std::size_t i = place; i < place + bytes; ++i) {
    auto& watch = watches[i];
    if (watch.state == State::on_its_way && state == State::on_its_way) fail("two copies on their way to one place");
    if (races(watch.write, now)) fail("race: two threads wrote shared memory without a barrier");
    if (reads_on_their_way[i / chunk_bytes] > 0) fail("race: write to shared memory that a product on its way reads");
    if (races(watch.read, now) || read_since(i / chunk_bytes, warp_of(thread)))
      fail("race: write to shared memory that another thread read without a barrier");
    watch.write = now;
    watch.state = state;
    watch.fences = passed;
  }
}

void watch_write(const void* pointer, std::size_t bytes, int thread, State state) {
  watch_write_at(place_of(pointer, bytes), bytes, thread, state);
}

long long conflicts(const std::vector<std::size_t>& places, std::size_t bytes) {
  std::array<std::vector<std::size_t>, 32> words;
  std::size_t most = 1;
  for (const auto place : places)
    for (auto word = place / 4; word * 4 < place + bytes; ++word) {
      auto& bank = words[word % 32];
      if (std::find(bank.begin(), bank.end(), word) == bank.end()) bank.push_back(word);
      most = max(most, bank.size());
    }
  return static_cast<long long>(most) - 1;
}

void meet(Meeting meeting, void* record) {
  current->record = record;
  current->meeting = meeting;
  current->waits = Waits::warp;
  leave();
}

void hold_meeting(unsigned first) {
  std::array<void*, 32> lanes;
  for (unsigned lane = 0; lane < 32; ++lane) {
    lanes[lane] = fibers[first + lane].record;
    if (fibers[first + lane].meeting != fibers[first].meeting) fail("lanes of a warp disagree about an instruction");
  }
  current_warp = static_cast<int>(first / 32);
  fibers[first].meeting(lanes);
}

void land(const std::vector<Copy>& group, int thread) {
  for (const auto& copy : group) {
    std::memcpy(copy.to, copy.data.data(), static_cast<std::size_t>(copy.bytes));
    watch_write(copy.to, static_cast<std::size_t>(copy.bytes), thread, State::written);
  }
}

void begin_block(unsigned threads) {
  const auto memories = threads / threads_of_block * (memories_file < 0 ? shared_bytes : span);
  watches.assign(memories, {});
  copies.assign(threads, {});
  fences.clear();
  warp_time.fill(0);
  reads.assign(memories / chunk_bytes + 1, Clock{});
  reads_on_their_way.assign(memories / chunk_bytes + 1, 0);
  for (std::size_t w = 0; w < most_warps; ++w) {
    clocks[w].fill(0);
    clocks[w][w] = 1;
    arrived[w].clear();
  }
  begin_warpgroups(threads);
}

void end_block() {
  for (const auto& each : copies) {
    bool any = !each.open.empty();
    for (const auto& group : each.groups) any = any || !group.empty();
    if (any) fail("a block ended with copies on their way");
  }
  end_warpgroups();
  end_stores();
  end_cluster(copies.size() / threads_of_block);
}

void m16n8k8_tf32(std::array<void*, 32>& lanes) {
  double a[16][8], b[8][8];
  const auto tf32 = [](unsigned bits) {
    bits &= ~0x1fffU;  // what the unit reads of a register
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return static_cast<double>(number);
  };
  for (int lane = 0; lane < 32; ++lane) {
    const auto& mine = *static_cast<Product<float>*>(lanes[static_cast<std::size_t>(lane)]);
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) a[i % 2 == 0 ? g : g + 8][i < 2 ? t : t + 4] = tf32(mine.a[i]);
    for (int i = 0; i < 2; ++i) b[i == 0 ? t : t + 4][g] = tf32(mine.b[i]);
  }
  for (int lane = 0; lane < 32; ++lane) {
    auto& mine = *static_cast<Product<float>*>(lanes[static_cast<std::size_t>(lane)]);
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; ++i) {
      double sum = static_cast<double>(mine.c[i]);
      for (int k = 0; k < 8; ++k) sum += a[i < 2 ? g : g + 8][k] * b[k][t * 2 + i % 2];
      mine.c[i] = static_cast<float>(sum);
    }
  }
  ++counts.matrix_operations;
}

void copy_async(void* to, const void* from, int count, int bytes) {
  if (reinterpret_cast<std::uintptr_t>(from) % static_cast<std::uintptr_t>(bytes) != 0 && count > 0)
    fail("a copy from an address that is not aligned");
  Copy copy{to, {}, bytes};
  copy.data.fill(0);
  if (count < 0 || count > bytes) fail("a copy of more than its bytes");
  std::memcpy(copy.data.data(), from, static_cast<std::size_t>(count));
  counts.read_bytes += count;
  watch_write(to, static_cast<std::size_t>(bytes), thread_number(), State::on_its_way);
  copies[static_cast<std::size_t>(thread_number())].open.push_back(copy);
}

}  // namespace emulation

void __syncwarp(unsigned) {
  int nothing = 0;
  emulation::meet(
      [](std::array<void*, 32>&) { ++emulation::warp_time[static_cast<std::size_t>(emulation::current_warp)]; },
      &nothing);
}

void napkin_mma_m16n8k16_f16(float* c, const unsigned* a, const unsigned* b) {
  emulation::Product<float> record{c, a, b};
  emulation::meet(emulation::m16n8_of_halves<__half, 16>, &record);
}

void napkin_mma_m16n8k8_f16(float* c, const unsigned* a, const unsigned* b) {
  emulation::Product<float> record{c, a, b};
  emulation::meet(emulation::m16n8_of_halves<__half, 8>, &record);
}

void napkin_mma_m16n8k16_bf16(float* c, const unsigned* a, const unsigned* b) {
  emulation::Product<float> record{c, a, b};
  emulation::meet(emulation::m16n8_of_halves<__nv_bfloat16, 16>, &record);
}

void napkin_mma_m16n8k8_tf32(float* c, const unsigned* a, const unsigned* b) {
  emulation::Product<float> record{c, a, b};
  emulation::meet(emulation::m16n8k8_tf32, &record);
}

void napkin_mma_m16n8k32_i8(int* c, const unsigned* a, const unsigned* b) {
  emulation::Product<int> record{c, a, b};
  emulation::meet(emulation::m16n8k32<signed char, int>, &record);
}

void napkin_mma_m16n8k32_f8e4m3(float* c, const unsigned* a, const unsigned* b) {
  emulation::Product<float> record{c, a, b};
  emulation::meet(emulation::m16n8k32<__nv_fp8_e4m3, float>, &record);
}

void napkin_mma_m16n8k32_f8e5m2(float* c, const unsigned* a, const unsigned* b) {
  emulation::Product<float> record{c, a, b};
  emulation::meet(emulation::m16n8k32<__nv_fp8_e5m2, float>, &record);
}

void napkin_copy_commit() {
  auto& mine = emulation::copies[static_cast<std::size_t>(emulation::thread_number())];
  mine.groups.push_back(std::move(mine.open));
  mine.open.clear();
}

unsigned napkin_multiply_f16(unsigned a, unsigned b) {
  const auto part = [](unsigned bits) {
    __half number;
    number.bits = static_cast<std::uint16_t>(bits & 0xffff);
    return static_cast<float>(number);
  };
  return __half(part(a) * part(b)).bits | unsigned(__half(part(a >> 16) * part(b >> 16)).bits) << 16;
}

unsigned napkin_pack_bf16(float low, float high) {
  return __nv_bfloat16(low).bits | unsigned(__nv_bfloat16(high).bits) << 16;
}
template <class Number>
static unsigned pack_bytes(const std::array<float, 4>& numbers) {
  unsigned all = 0;
  for (std::size_t i = 0; i < 4; ++i) all |= unsigned(Number(numbers[i]).bits) << (8 * i);
  return all;
}
unsigned napkin_pack_f8e4m3(float a, float b, float c, float d) { return pack_bytes<__nv_fp8_e4m3>({a, b, c, d}); }
unsigned napkin_pack_f8e5m2(float a, float b, float c, float d) { return pack_bytes<__nv_fp8_e5m2>({a, b, c, d}); }
