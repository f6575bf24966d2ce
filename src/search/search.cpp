// All shapes of the space, the most promising sizes of each, and what came closest where nothing fits.
#include "napkin/search.hpp"

#include <algorithm>

#include "search/branch.hpp"
#include "search/kernels.hpp"

namespace napkin {
namespace {

constexpr std::int64_t most_choices = 20'000'000;

Candidate candidate(const Space& space, const Partition& partition, Model model) {
  auto kernel = make_kernel(space.derivation, partition);
  auto cost = estimate(kernel, *space.hardware, model);
  return {std::move(kernel), std::move(cost)};
}

}  // namespace

Ranking rank(const Space& space, const Goal& goal, Leaders leaders, bool nearest, bool all) {
  Ranking ranking{std::move(leaders), {.evaluated = 0, .budget = most_choices}, 0};
  const Scoring scoring(*space.hardware, goal, nearest);
  each_shape(space, [&](const Kernel& shape) {
    const auto count = count_partitions(space, shape.partition);
    if (__builtin_add_overflow(ranking.candidates, count, &ranking.candidates)) ranking.candidates = INT64_MAX;
    if (count == 0) return;
    const CostModel model(shape, *space.hardware);
    Branch branch(space, shape, model, scoring, ranking.leaders, ranking.tally);
    all ? branch.run_all() : branch.run();
  });
  return ranking;
}

Found found(const Space& space, const Goal& goal, bool all) {
  const auto top = std::max<std::size_t>(goal.top, 1);
  auto ranking = rank(space, goal, Leaders(top, space.first), false, all);
  Found found;
  found.candidates = ranking.candidates;
  found.evaluated = ranking.tally.evaluated;
  found.optimal = ranking.tally.budget >= 0;
  found.space = to_text(space);
  if (top > 1) found.space += "; the best that differ at the outermost level";
  for (const auto& one : ranking.leaders.best()) found.best.push_back(candidate(space, one.partition, goal.model));
  if (!found.best.empty()) return found;
  const auto closest = rank(space, goal, Leaders(1, space.first), true, all);
  found.evaluated += closest.tally.evaluated;
  if (!closest.leaders.best().empty())
    found.nearest = candidate(space, closest.leaders.best().front().partition, goal.model);
  return found;
}

Found search(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, const Goal& goal) {
  return found(make_space(std::move(derivation), hardware, goal.fixed), goal, false);
}

Found search_exhaustively(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, const Goal& goal) {
  return found(make_space(std::move(derivation), hardware, goal.fixed), goal, true);
}

}  // namespace napkin
