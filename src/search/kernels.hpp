// The best partitions of one kernel by score, before they are made into candidates with all their costs.
#pragma once

#include "search/branch.hpp"

namespace napkin {

struct Ranking {
  Leaders leaders;
  Tally tally;
};
// `nearest`: what comes closest to fitting.
Ranking rank(const Space&, const Goal&, Leaders, bool nearest);
Ranking rank_exhaustively(const Space&, const Goal&, Leaders, bool nearest);

// With costs, and what comes closest where nothing fits.
Found found(const Space&, const Goal&, decltype(rank)& ranked);

}  // namespace napkin
