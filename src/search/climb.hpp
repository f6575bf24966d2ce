// Finds a good partition of a shape quickly, which the search then has to beat.
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
  std::int64_t first = 1;  // the climb begins at the largest legal sizes up to this one
  bool far = false;        // before single steps, it tries a dozen sizes of every two splits together
};
// Coordinate ascent over the sizes of a shape: one split after another takes the next larger or smaller size while the
// score improves. Returns nothing if no partition on the way fits. For a shape that stops above the innermost level,
// only the levels that it splits are scored. Adds the number of partitions that it evaluated to `evaluated`.
std::optional<Climbed> climb(const Space&, const Scoring&, const Shape&, PieceSizes&, const Ascent&,
                             std::int64_t& evaluated);

}  // namespace napkin
