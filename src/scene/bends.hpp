// Wires between two columns -> where in the strip between them each one bends, so that crossings can be told apart.
#pragma once

#include <vector>

namespace napkin::scene {

constexpr double cell = 8, row_height = 12;  // of a picture in text: the width of a letter, the height of a row

// From one height to another. Wires that stay level are among them: others cross them.
struct Bend {
  double from = 0, to = 0;
  double begin = 0, end = 0;  // in the strip, set by `spread`; level before and after
};

// The width of the strip; none where nothing bends.
double spread(std::vector<Bend>&);

// The height at a place of the strip, on the curve that pictures are printed with.
double height(const Bend&, double x);

}  // namespace napkin::scene
