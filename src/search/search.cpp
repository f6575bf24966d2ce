// Finds the best partitions of a kernel with all their costs, or the partition that is closest to fitting if none fits.
#include "napkin/search.hpp"

#include <algorithm>

#include "search/kernels.hpp"
#include "timing/labels.hpp"
#include "timing/launch_configs.hpp"

namespace napkin {
namespace {

// In the ideal model too, the time of a launch is that of its configuration, for the kernel with its splits down to a
// level.
std::optional<Overrun> set_ideal_launch(KernelCost& cost, const Kernel& asked, std::size_t level,
                                        const Hardware& hardware) {
  const auto kernel = without_idle_labels(down_to(asked, level));
  const auto configs = LaunchConfigs::of(kernel, hardware, Model::ideal);
  if (!configs || !cost.ideal_time_s || !cost.time_s) return {};
  const auto demand = demand_of(kernel, hardware);
  const auto config = configs->in_full(configs->best(demand), demand);
  if (!config.runs()) return {};
  const double seconds = configs->launch(config, demand, *cost.ideal_time_s, Detail::columns).time_s;
  if (cost.energy_j && hardware.idle_watts) *cost.energy_j += hardware.idle_watts->value * (seconds - *cost.time_s);
  cost.time_s = seconds;
  return {};
}

// Returns the partition with its rows divided among warps as in the fastest launch.
Partition with_divided_rows(const Space& space, const Partition& partition) {
  if (space.end >= space.hardware->levels.size()) return partition;
  const auto kernel = without_idle_labels(make_kernel(space.derivation, partition));
  const auto configs = LaunchConfigs::of(kernel, *space.hardware, Model::machine);
  if (!configs) return partition;
  const auto config = configs->best(demand_of(kernel, *space.hardware));
  if (!config.runs()) return partition;
  auto longer = partition;
  const auto rows = config.warpgroup.held / config.warpgroup.warps;
  longer.splits.push_back({SplitKind::group, configs->mainloop().row, rows, space.end});
  longer = without_idle_labels(space.derivation->scratch, longer, space.end);
  return illegal(*space.derivation, *space.hardware, longer).empty() ? longer : partition;
}

}  // namespace

Candidate candidate(const Space& space, const Partition& partition, Model model) {
  auto kernel = make_kernel(space.derivation, with_divided_rows(space, partition));
  auto cost = estimate(kernel, *space.hardware, model);
  if (!space.hardware->core) return {std::move(kernel), std::move(cost)};
  const auto level = std::max(*space.hardware->core, space.first - 1);
  const auto set_time = model == Model::machine ? set_launch_time : set_ideal_launch;
  const auto stopped = set_time(cost, kernel, level, *space.hardware);
  if (!stopped || !space.launches) return {std::move(kernel), std::move(cost)};  // other goals do not depend on it
  std::erase_if(cost.overruns,
                [&](const Overrun& one) { return one.level >= space.held && one.what.starts_with("memory"); });
  cost.overruns.push_back(*stopped);
  return {std::move(kernel), std::move(cost)};
}

Ranking coarse_first(const Space& space, const Goal& goal, Incumbents incumbents, bool nearest, Budget budget,
                     decltype(rank)& ranked) {
  const auto part = nearest || !incumbents.in_order() ? std::nullopt : coarser_part(space);
  if (!part) return ranked(space, goal, std::move(incumbents), nearest, budget);
  constexpr double noticeable = 0.005;
  auto less = budget;  // because the finer search looks through the coarser pieces again
  less.evaluated /= 2;
  auto coarse = coarse_first(*part, goal, incumbents, false, less, ranked);
  auto limit = Score::greatest();
  if (const auto& best = coarse.incumbents.best(); !best.empty()) {
    limit = Score::at_most(best.front().score.parts[0] * (1 - noticeable), 0);
    incumbents.limit(limit);
  }
  auto any = ranked(space, goal, std::move(incumbents), false, budget);
  any.statistics.evaluated += coarse.statistics.evaluated;
  for (const auto& one : any.incumbents.best())
    if (one.score <= limit) coarse.incumbents.offer(one);
  any.incumbents = std::move(coarse.incumbents);
  return any;
}

namespace {

Ranking rank_by_bounds(const Space& space, const Goal& goal, Incumbents incumbents, bool nearest, Budget budget) {
  Ranking ranking{std::move(incumbents), {}};
  const Scoring scoring(space, goal, nearest);
  Search(space, scoring, ranking.incumbents, ranking.statistics, budget).run();
  return ranking;
}

}  // namespace

Ranking rank(const Space& space, const Goal& goal, Incumbents incumbents, bool nearest, Budget budget) {
  return coarse_first(space, goal, std::move(incumbents), nearest, budget, rank_by_bounds);
}

Found found(const Space& space, const Goal& goal, const Ranking& ranking) {
  Found found;
  found.candidates = count_partitions(space);
  found.evaluated = ranking.statistics.evaluated;
  found.optimal = ranking.statistics.finished;
  found.space = to_text(space);
  if (goal.top > 1) found.space += "; the best that differ at the outermost level";
  for (const auto& one : ranking.incumbents.best()) found.best.push_back(candidate(space, one.partition, goal.model));
  return found;
}

Found found(const Space& space, const Goal& goal, decltype(rank)& ranked, Budget budget) {
  const auto top = std::max<std::size_t>(goal.top, 1);
  auto all = found(space, goal, ranked(space, goal, Incumbents(top, space.first), false, budget));
  if (!all.best.empty()) return all;
  const auto closest = ranked(space, goal, Incumbents(1, space.first), true, budget);
  all.evaluated += closest.statistics.evaluated;
  if (!closest.incumbents.best().empty())
    all.nearest = candidate(space, closest.incumbents.best().front().partition, goal.model);
  return all;
}

Found search(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, const Goal& goal) {
  return found(make_space(std::move(derivation), hardware, goal), goal, rank, patient(patience, goal));
}

}  // namespace napkin
