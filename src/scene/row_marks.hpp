// A placed row -> marks, from left to right.
#pragma once

#include <vector>

#include "scene/names.hpp"

namespace napkin::scene {

struct DrawnRow {
  std::vector<Mark> marks;
  double width = 0;
  std::vector<double> ends;  // of each function's column with the data after it
  struct Strip {             // in which arrays change their level
    double from = 0, to = 0;
    std::vector<std::string> arrays;  // none: there is no strip
  };
  Strip load, save;
};
// `least_work`: the room between loading and saving that figures need.
DrawnRow draw(const Inks&, const Row&, Said&, double least_work = 0);

// From the top of a tinted region to its first wire, and from its last to its foot.
constexpr double region_head = 30, region_foot = 14;

}  // namespace napkin::scene
