// The best partitions of one kernel by score, before they are made into candidates with all their costs.
#pragma once

#include "search/branch.hpp"

namespace napkin {

struct Ranking {
  Incumbents incumbents;
  SearchStatistics statistics;
};
// `nearest`: what comes closest to fitting. Says so where it gives up.
Ranking rank(const Space&, const Goal&, Incumbents, bool nearest, Budget);
// Looks at everything, however long it takes.
Ranking rank_exhaustively(const Space&, const Goal&, Incumbents, bool nearest, Budget);

// With all its costs.
Candidate candidate(const Space&, const Partition&, Model);
Found found(const Space&, const Goal&, const Ranking&);

// Of the two above, what they have in common: pieces of whole lines and warpgroups first, and others where they are
// noticeably better.
Ranking lines_first(const Space&, const Goal&, Incumbents, bool nearest, Budget, decltype(rank)& ranked);

// Ranks, and where nothing fits finds what comes closest.
Found found(const Space&, const Goal&, decltype(rank)& ranked, Budget);

// Ends a search that would take seconds; most take less than a tenth of this.
constexpr std::int64_t patience = 1'000'000;
// This number of partitions, times the patience that a person asked for.
inline std::int64_t patient(std::int64_t partitions, const Goal& goal) {
  return static_cast<std::int64_t>(static_cast<double>(partitions) * goal.patience);
}

}  // namespace napkin
