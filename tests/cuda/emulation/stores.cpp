// Boxes that leave.
#include "emulation.hpp"

namespace emulation {

std::size_t entries_of(const CUtensorMap& map) {
  std::size_t entries = 1;
  for (unsigned i = 0; i < map.rank; ++i) entries *= map.box[i];
  return entries;
}

std::size_t unswizzled(std::size_t place, const CUtensorMap& map) {
  return map.swizzle > 0 ? place ^ ((place >> 7) & (map.swizzle / chunk_bytes - 1)) << 4 : place;
}

void leave_later(const CUtensorMap& map, const void* from, std::vector<int> at) {
  if (at.size() != map.rank) fail("a copy of an array of other dimensions");
  const auto begin = static_cast<std::size_t>(napkin_shared_address(from));
  if (begin % 128 != 0) fail("a box at an address that is not a multiple of 128");
  std::reverse(at.begin(), at.end());
  for (std::size_t offset = 0; offset < entries_of(map) * map.bytes; offset += chunk_bytes) {
    const auto* chunk = shared_memory + unswizzled(begin + offset, map);
    watch_read(chunk, chunk_bytes, thread_number());
    const auto place = place_of(chunk, chunk_bytes);
    for (auto byte = place; byte < place + chunk_bytes; ++byte)
      if (!known_to_copies(watches[byte])) fail("a box leaves whose numbers copies do not know of");
    ++reads_on_their_way[place / chunk_bytes];
  }
  leaving[thread_number()].open.push_back({&map, begin, at});
}

void land(const LeavingBox& box) {
  const auto& map = *box.map;
  ++counts.boxes_left;
  for (std::size_t entry = 0; entry < entries_of(map); ++entry) {
    auto rest = entry;
    bool inside = true;
    auto* to = const_cast<unsigned char*>(map.array);
    for (unsigned i = 0; i < map.rank; ++i) {
      const auto position = box.at[i] + static_cast<long long>(rest % map.box[i]);
      rest /= map.box[i];
      inside = inside && position >= 0 && position < static_cast<long long>(map.sizes[i]);
      if (inside) to += static_cast<std::uint64_t>(position) * map.steps[i];
    }
    const auto place = unswizzled(box.from + entry * map.bytes / chunk_bytes * chunk_bytes, map);
    const auto within = entry * map.bytes % chunk_bytes;
    if (inside) {
      std::memcpy(to, shared_memory + place + within, map.bytes);
      counts.written_bytes += map.bytes;
    }
    if (within != 0) continue;
    const auto chunk = place_of(shared_memory + place, chunk_bytes) / chunk_bytes;
    const auto warp = warp_of(thread_number());
    --reads_on_their_way[chunk];
    reads[chunk][warp] = max(reads[chunk][warp], clocks[warp][warp]);
  }
}

void land_boxes() {
  auto& mine = leaving[thread_number()];
  for (; !mine.groups.empty(); mine.groups.pop_front())
    for (const auto& box : mine.groups.front()) land(box);
}

void end_stores() {
  for (const auto& [thread, boxes] : leaving)
    if (!boxes.open.empty() || !boxes.groups.empty()) fail("a block ended with boxes on their way");
  leaving.clear();
}

void meet_stores(std::array<void*, warpgroup_lanes>&) {
  count_barrier(static_cast<unsigned>(current_warpgroup * warpgroup_lanes), warpgroup_lanes);
}

}  // namespace emulation

void napkin_store_box_1d(const CUtensorMap* map, const void* from, int at0) {
  emulation::leave_later(*map, from, {at0});
}

void napkin_store_box_2d(const CUtensorMap* map, const void* from, int at0, int at1) {
  emulation::leave_later(*map, from, {at0, at1});
}

void napkin_store_box_3d(const CUtensorMap* map, const void* from, int at0, int at1, int at2) {
  emulation::leave_later(*map, from, {at0, at1, at2});
}

void napkin_store_box_4d(const CUtensorMap* map, const void* from, int at0, int at1, int at2, int at3) {
  emulation::leave_later(*map, from, {at0, at1, at2, at3});
}

void napkin_store_box_5d(const CUtensorMap* map, const void* from, int at0, int at1, int at2, int at3, int at4) {
  emulation::leave_later(*map, from, {at0, at1, at2, at3, at4});
}

void napkin_store_commit() {
  auto& mine = emulation::leaving[emulation::thread_number()];
  mine.groups.push_back(std::move(mine.open));
  mine.open.clear();
}

void napkin_store_wait() {
  emulation::land_boxes();
  emulation::meet_warpgroup(emulation::meet_stores, nullptr);
}

void napkin_store_ready() {
  ++emulation::fences[emulation::thread_number()];
  emulation::meet_warpgroup(emulation::meet_stores, nullptr);
}
