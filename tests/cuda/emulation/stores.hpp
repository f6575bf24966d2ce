// Boxes of shared memory that leave for an array by TMA while their warpgroup goes on, as the PTX ISA documents them.
// Found are boxes of numbers that copies do not know of, tiles that are written while boxes of them are on their way,
// and boxes that nobody waited for.
#pragma once

#include "warpgroups.hpp"

namespace emulation {

struct LeavingBox {
  const CUtensorMap* map;
  std::size_t from;  // its place
  std::vector<int> at;
};
struct LeavingBoxes {
  std::vector<LeavingBox> open;
  std::deque<std::vector<LeavingBox>> groups;
};
extern std::map<int, LeavingBoxes> leaving;  // by thread

std::size_t entries_of(const CUtensorMap& map);
std::size_t unswizzled(std::size_t place, const CUtensorMap& map);

void leave_later(const CUtensorMap& map, const void* from, std::vector<int> at);
void land(const LeavingBox& box);
void land_boxes();
void end_stores();
void meet_stores(std::array<void*, warpgroup_lanes>&);

}  // namespace emulation

// What emitted kernels call.

void napkin_store_box_1d(const CUtensorMap* map, const void* from, int at0);
void napkin_store_box_2d(const CUtensorMap* map, const void* from, int at0, int at1);
void napkin_store_box_3d(const CUtensorMap* map, const void* from, int at0, int at1, int at2);
void napkin_store_box_4d(const CUtensorMap* map, const void* from, int at0, int at1, int at2, int at3);
void napkin_store_box_5d(const CUtensorMap* map, const void* from, int at0, int at1, int at2, int at3, int at4);
void napkin_store_commit();
inline void napkin_store_end() { emulation::land_boxes(); }
void napkin_store_wait();
void napkin_store_ready();
