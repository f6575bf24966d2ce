// A good partition of a shape, soon: what the search then has to beat.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/score.hpp"
#include "search/shapes.hpp"

namespace napkin {

struct Climbed {
  Score score;
  std::vector<std::int64_t> sizes;  // by split of the shape
};
struct Ascent {
  std::int64_t first = 1;  // positions of the pieces that it begins with, or a few less
  bool far = false;        // looks at a dozen sizes of every two splits before it goes on by steps
};
// All splits in turn are made a step larger or smaller for as long as that is better. None if nothing fits on the way.
// For a shape that stops above the innermost level, what it does not split does not count.
std::optional<Climbed> climb(const Space&, const Scoring&, const Shape&, PieceSizes&, const Ascent&);

}  // namespace napkin
