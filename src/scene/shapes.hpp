// The body of a function: its outline, its name, and where wires enter and leave it.
#pragma once

#include <utility>
#include <vector>

#include "scene/pens.hpp"

namespace napkin::scene {

struct Body {
  std::vector<Mark> marks;
  double end = 0;
  std::vector<bool> passes;                    // of the lanes read: those that go through it unchanged
  std::vector<std::pair<Lane, Point>> starts;  // where what it makes begins, unless it is a wire that goes through
};
Body shape(const Inks&, const Step&, double x);

}  // namespace napkin::scene
