// A placed row -> marks, from left to right.
#pragma once

#include <set>
#include <vector>

#include "scene/pens.hpp"

namespace napkin::scene {

// What earlier rows have already said.
struct Said {
  std::set<WireId> sizes;
  std::set<std::string> ids;
};

struct DrawnRow {
  std::vector<Mark> marks;
  double width = 0;
  std::vector<double> ends;  // of each function's column with the data after it
  std::pair<double, double> load, save;  // the strips in which arrays change their level; empty where none does
};
DrawnRow draw(const Inks&, const Row&, Said&);

// From the top of a tinted region to its first wire, and from its last to its foot.
constexpr double region_head = 30, region_foot = 14;

}  // namespace napkin::scene
