// The best partitions of one kernel by score, before they are made into candidates with all their costs.
#pragma once

#include "search/branch.hpp"

namespace napkin {

struct Ranking {
  Leaders leaders;
  Tally tally;
};
// `nearest`: what comes closest to fitting. Gives up after `most_evaluated`, and says so.
Ranking rank(const Space&, const Goal&, Leaders, bool nearest, std::int64_t most_evaluated);
// Looks at everything, however long it takes.
Ranking rank_exhaustively(const Space&, const Goal&, Leaders, bool nearest, std::int64_t most_evaluated);

// With all its costs.
Candidate candidate(const Space&, const Partition&, Model);
Found found(const Space&, const Goal&, const Ranking&);

// Ranks, and where nothing fits finds what comes closest.
Found found(const Space&, const Goal&, decltype(rank)& ranked, std::int64_t most_evaluated);

// Ends a search that would take seconds; most take less than a tenth of this.
constexpr std::int64_t patience = 1'000'000;

}  // namespace napkin
