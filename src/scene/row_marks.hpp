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
};
DrawnRow draw(const Inks&, const Row&, Said&);

}  // namespace napkin::scene
