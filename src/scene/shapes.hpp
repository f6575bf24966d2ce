// The body of a function: its outline, its name, and the points where wires enter and leave it.
#pragma once

#include <utility>
#include <vector>

#include "scene/pens.hpp"

namespace napkin::scene {

struct Body {
  std::vector<Mark> marks;
  double end = 0;
  std::vector<bool> passes;                    // by lane read: whether it goes through the body unchanged
  std::vector<std::pair<Lane, Point>> starts;  // where the lanes of its result begin, except wires that go through
};
Body shape(const Inks&, const Step&, double x);

}  // namespace napkin::scene
