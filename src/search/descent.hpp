// Climbs from the most promising shapes, level by level.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "search/climb.hpp"

namespace napkin {

// The number of shapes of a level that are continued, and the number of evaluated partitions of a level after which no
// further shape of it is climbed.
struct Width {
  std::size_t shapes = std::numeric_limits<std::size_t>::max();
  std::int64_t partitions = std::numeric_limits<std::int64_t>::max();
};

class Descent {
 public:
  Descent(const Space& space, const Scoring& scoring, Shapes& shapes)
      : space_(space), scoring_(scoring), shapes_(shapes) {}
  struct Top {
    std::size_t shape;
    Climbed best;
  };
  // Continues these shapes, all of one level, to whole ones. Returns the best partition found for each whole shape.
  std::vector<Top> run(std::vector<std::size_t> shapes, const Width&, const Ascent&);

 private:
  std::vector<Top> climb_all(const std::vector<std::size_t>& shapes, const Width&, const Ascent&);
  std::vector<std::size_t> best_climbed(const std::vector<std::size_t>& shapes, const Width&);
  std::optional<Climbed> climbed(std::size_t shape, const Ascent&);

  const Space& space_;
  const Scoring& scoring_;
  Shapes& shapes_;
  PieceSizes pieces_;
  std::int64_t evaluated_ = 0;                             // partitions, all climbs together
  std::map<std::size_t, std::optional<Climbed>> climbed_;  // by shape, from the smallest pieces in single steps
};

}  // namespace napkin
