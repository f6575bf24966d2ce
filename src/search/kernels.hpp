// The best partitions of one kernel by score, before they are made into candidates with all their costs.
#pragma once

#include "search/branch.hpp"

namespace napkin {

struct Ranking {
  Leaders leaders;
  Tally tally;
  std::int64_t candidates = 0;
};
// `nearest`: what comes closest to fitting. `all`: looks at every partition.
Ranking rank(const Space&, const Goal&, Leaders, bool nearest, bool all);

// With costs; `nearest` where nothing fits.
Found found(const Space&, const Goal&, bool all);

}  // namespace napkin
