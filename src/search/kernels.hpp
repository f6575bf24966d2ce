// The best partitions of one kernel by score, and the candidates with all costs that are made from them.
#pragma once

#include "search/branch.hpp"

namespace napkin {

struct Ranking {
  Incumbents incumbents;
  SearchStatistics statistics;
};
// `nearest`: ranks by how close partitions are to fitting. If it gives up, the statistics say so.
Ranking rank(const Space&, const Goal&, Incumbents, bool nearest, Budget);
// Evaluates every partition, however long it takes.
Ranking rank_exhaustively(const Space&, const Goal&, Incumbents, bool nearest, Budget);

// The candidate of a partition, with all its costs.
Candidate candidate(const Space&, const Partition&, Model);
Found found(const Space&, const Goal&, const Ranking&);

// The common part of the two above, which calls `ranked` for coarser pieces first, and takes finer ones if they are
// noticeably better.
Ranking coarse_first(const Space&, const Goal&, Incumbents, bool nearest, Budget, decltype(rank)& ranked);

// Ranks; if nothing fits, finds the partition that is closest to fitting.
Found found(const Space&, const Goal&, decltype(rank)& ranked, Budget);

// The number of partitions after which a search ends that would take seconds; most need less than a tenth of it.
constexpr std::int64_t patience = 1'000'000;
// A number of partitions times the patience of the goal.
inline std::int64_t patient(std::int64_t partitions, const Goal& goal) {
  return static_cast<std::int64_t>(static_cast<double>(partitions) * goal.patience);
}

}  // namespace napkin
