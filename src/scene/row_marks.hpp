// A placed row -> marks, from left to right.
#pragma once

#include <vector>

#include "scene/names.hpp"

namespace napkin::scene {

struct DrawnRow {
  std::vector<Mark> marks;
  double width = 0;
  std::vector<double> ends;  // by function: where its column, including the data after it, ends
  struct Strip {             // a strip in which arrays change their level
    double from = 0, to = 0;
    std::vector<std::string> arrays;  // empty if there is no strip
  };
  Strip load, save;
};
// `least_work`: the width between loading and saving that figures need.
DrawnRow draw(const Inks&, const Row&, Said&, double least_work = 0);

// The distances from the top of a tinted region to its first wire, and from its last wire to its bottom.
constexpr double region_head = 30, region_foot = 14;

}  // namespace napkin::scene
