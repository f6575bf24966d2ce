// Wires between two columns -> the place in the strip between them where each wire bends, so that crossings can be told
// apart.
#pragma once

#include <vector>

namespace napkin::scene {

constexpr double cell = 8, row_height = 12;  // in a text picture: the width of a letter, the height of a row

// A wire from one height to another. Level wires are included, because others cross them.
struct Bend {
  double from = 0, to = 0;
  double begin = 0, end = 0;  // of the bend in the strip, set by `spread`; the wire is level before and after
};

// Sets where each wire bends and returns the width of the strip; 0 if nothing bends.
double spread(std::vector<Bend>&);

// The height at a place of the strip, on the curve that printers of pictures draw.
double height(const Bend&, double x);

}  // namespace napkin::scene
