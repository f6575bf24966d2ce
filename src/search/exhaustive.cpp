// The slow twin of search: evaluates every shape of the space with every size of every split.
#include <algorithm>

#include "cost/figures/evaluate.hpp"
#include "cost/model/make_cost_model.hpp"
#include "search/kernels.hpp"
#include "timing/labels.hpp"

namespace napkin {
namespace {

class Exhaustive {
 public:
  Exhaustive(const Space& space, const Scoring& scoring, Ranking& ranking)
      : space_(space), scoring_(scoring), ranking_(ranking) {}

  void shapes(const Partition& shape, std::size_t level) {
    if (level >= space_.end) return sizes(shape);
    each_continuation(space_, shape, level,
                      [&](const Kernel& longer) { shapes(Partition(longer.partition), level + 1); });
  }

 private:
  void sizes(const Partition& shape) {
    const auto kernel = make_kernel(space_.derivation, shape);
    const auto model = make_cost_model(kernel, *space_.hardware);
    auto partition = shape;
    sizes(model, partition, 0);
  }
  void sizes(const CostModel& model, Partition& partition, std::size_t at) {
    if (at == partition.splits.size()) return offer(model, partition);
    auto& split = partition.splits[at];
    if (split.level < space_.first) return sizes(model, partition, at + 1);
    auto extent = space_.derivation->scratch.size(split.wire).value_or(1);
    for (std::size_t i = 0; i < at; ++i)
      if (partition.splits[i].wire == split.wire) extent = std::min(extent, partition.splits[i].size);
    for (const auto size : piece_sizes(extent, space_.grain(split))) {
      if (split.kind == SplitKind::stream && size == extent) continue;
      split.size = size;
      sizes(model, partition, at + 1);
    }
  }
  void offer(const CostModel& model, const Partition& partition) {
    ++ranking_.statistics.evaluated;
    std::vector<std::int64_t> sizes;
    for (const auto& split : partition.splits) sizes.push_back(split.size);
    evaluate(model, sizes, figures_);
    if (!scoring_.fits(model, figures_)) return;
    const auto kept = without_idle_labels(space_.derivation->scratch, partition, space_.first);
    Launched launched;
    if (scoring_.times_launches())
      launched = time_launch(space_.derivation, partition, *space_.hardware, space_.launches->level());
    if (!scoring_.runs(launched)) return;
    ranking_.incumbents.offer({scoring_.score(model, figures_, kept.splits.size(), launched), kept});
  }

  const Space& space_;
  const Scoring& scoring_;
  Ranking& ranking_;
  Figures figures_;
};

Ranking rank_one_by_one(const Space& space, const Goal& goal, Incumbents incumbents, bool nearest, Budget) {
  Ranking ranking{std::move(incumbents), {}};
  const Scoring scoring(space, goal, nearest);
  Exhaustive(space, scoring, ranking).shapes(space.fixed, space.first);
  return ranking;
}

}  // namespace

Ranking rank_exhaustively(const Space& space, const Goal& goal, Incumbents incumbents, bool nearest, Budget budget) {
  return coarse_first(space, goal, std::move(incumbents), nearest, budget, rank_one_by_one);
}

Found search_exhaustively(std::shared_ptr<const Derivation> derivation, const Hardware& hardware, const Goal& goal) {
  return found(make_space(std::move(derivation), hardware, goal), goal, rank_exhaustively, 0);
}

}  // namespace napkin
