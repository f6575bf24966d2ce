// A diagram cut into kernels: the cheapest cut of the statements, in their order, into contiguous segments.
//
// best(i) is the least cost of the first i statements: the least over j < i of best(j) + cost of the kernel of
// statements j to i - 1. Kernels meet only in arrays at the outermost level, so that costs add up, and what the rest
// needs of a kernel (its outputs) does not depend on how the rest is cut.
#include <algorithm>
#include <optional>

#include "search/kernels.hpp"

namespace napkin {
namespace {

// What a plan costs: the objective, then transfers at the outermost level.
struct Price {
  double objective = 0, transfers = 0;
  auto operator<=>(const Price&) const = default;
  Price operator+(const Price& more) const { return {objective + more.objective, transfers + more.transfers}; }
};

Price price(const Candidate& candidate, const Goal& goal) {
  const auto& cost = candidate.cost;
  Price all;
  if (!cost.levels.empty()) all.transfers = static_cast<double>(cost.levels.front().transfer_bytes);
  if (goal.objective == Objective::time)
    all.objective = (goal.model == Model::ideal ? cost.ideal_time_s : cost.time_s).value_or(0);
  if (goal.objective == Objective::energy) all.objective = cost.energy_j.value_or(0);
  return all;
}

class Cuts {
 public:
  Cuts(const Diagram& diagram, const Hardware& hardware, const Goal& goal)
      : diagram_(diagram), hardware_(hardware), goal_(goal) {}

  FoundPlan run() {
    const auto count = diagram_.statements.size();
    ends_.resize(count + 1);
    ends_[0] = End{};
    for (std::size_t end = 1; end <= count; ++end)
      for (std::size_t begin = end; begin-- > 0;) consider(begin, end);
    if (!ends_[count]) return whole();
    std::vector<Found> kernels;
    for (auto end = count; end > 0; end = ends_[end]->begin) kernels.push_back(std::move(ends_[end]->kernel));
    std::ranges::reverse(kernels);
    return plan(std::move(kernels));
  }

 private:
  struct End {
    Price price{};
    std::size_t begin = 0;
    Found kernel{};
  };

  Found kernel(std::size_t begin, std::size_t end) {
    std::vector<StatementId> statements;
    for (auto i = begin; i < end; ++i) statements.push_back({static_cast<std::uint32_t>(i)});
    auto found = search(std::make_shared<const Derivation>(derive(diagram_, statements)), hardware_, goal_);
    if (__builtin_add_overflow(candidates_, found.candidates, &candidates_)) candidates_ = INT64_MAX;
    evaluated_ += found.evaluated;
    optimal_ = optimal_ && found.optimal;
    return found;
  }
  void consider(std::size_t begin, std::size_t end) {
    if (!ends_[begin]) return;
    auto found = kernel(begin, end);
    if (found.best.empty()) return;
    const auto together = ends_[begin]->price + price(found.best.front(), goal_);
    if (!ends_[end] || together < ends_[end]->price) ends_[end] = End{together, begin, std::move(found)};
  }
  FoundPlan whole() {
    std::vector<Found> kernels;
    kernels.push_back(kernel(0, diagram_.statements.size()));
    return plan(std::move(kernels));
  }
  FoundPlan plan(std::vector<Found> kernels) const {
    FoundPlan all;
    all.candidates = candidates_;
    all.evaluated = evaluated_;
    all.optimal = optimal_;
    for (const auto& found : kernels)
      if (!found.best.empty()) all.plan.kernels.push_back(found.best.front().kernel);
    if (all.plan.kernels.size() == kernels.size()) all.cost = estimate(all.plan, hardware_, goal_.model);
    all.kernels = std::move(kernels);
    return all;
  }

  const Diagram& diagram_;
  const Hardware& hardware_;
  const Goal& goal_;
  std::vector<std::optional<End>> ends_;  // by how many statements are done
  std::int64_t candidates_ = 0, evaluated_ = 0;
  bool optimal_ = true;
};

}  // namespace

FoundPlan search(const Diagram& diagram, const Hardware& hardware, const Goal& goal) {
  return Cuts(diagram, hardware, goal).run();
}

}  // namespace napkin
