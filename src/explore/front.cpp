// Finds partitions that trade time against memory and transfers, by a search with incumbents that form a front rather
// than a ranking.
#include "napkin/explore.hpp"
#include "search/kernels.hpp"

namespace napkin {
namespace {

std::size_t traded_level(const Hardware& hardware) { return hardware.core.value_or(1); }

Trade trade(const Hardware& hardware, double tolerance) {
  const auto level = traded_level(hardware);
  return {{0, Score::transfers_at(level), Score::memory_at(level, hardware.levels.size())}, tolerance};
}

Front front(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, Model model, double tolerance,
            decltype(rank)& ranked, std::int64_t patience) {
  const Goal goal{.model = model, .fixed = {}};
  const auto space = make_space(std::move(derivation), hardware, goal);
  // The fastest partition is always on the front, even if others are close to it.
  const auto fastest = ranked(space, goal, Incumbents(1, space.first), false, patience);
  Incumbents incumbents(trade(hardware, tolerance));
  for (const auto& one : fastest.incumbents.best()) incumbents.offer(one);
  const auto ranking = ranked(space, goal, std::move(incumbents), false, patience);
  Front made{traded_level(hardware), tolerance, {}, ranking.statistics.finished, ranking.statistics.evaluated};
  for (const auto& one : ranking.incumbents.best())
    made.candidates.push_back(candidate(space, one.partition, goal.model));
  return made;
}

}  // namespace

Front explore_front(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, Model model,
                    double tolerance, const Effort& effort) {
  return front(std::move(derivation), hardware, model, tolerance, rank, effort.front);
}

Front explore_front_exhaustively(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, Model model,
                                 double tolerance) {
  return front(std::move(derivation), hardware, model, tolerance, rank_exhaustively, 0);
}

}  // namespace napkin
