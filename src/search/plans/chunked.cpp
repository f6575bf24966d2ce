#include "search/plans/chunked.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "diagram/operands.hpp"

namespace napkin {
namespace {

// As parts of what a search of the file's own statements has: of a length, and of the length that is taken.
constexpr double patience_of_a_trial = 0.01, patience_of_the_best = 0.4;
constexpr double hopeless = 32;  // times as much is reduced: the plan of such a form is not looked for

// How many values are reduced, all together.
double reduced_values(const Diagram& diagram) {
  std::set<ExprId> seen;
  double all = 0;
  for (const auto& statement : diagram.statements)
    any_part(diagram, statement.value, [&](ExprId part) {
      const auto* reduce = std::get_if<Reduce>(&diagram.at(part).node);
      if (!reduce || !seen.insert(part).second) return false;
      double values = 1;
      for (const auto wire : free_wires(diagram, reduce->body)) values *= static_cast<double>(*diagram.size(wire));
      all += values;
      return false;
    });
  return all;
}

// Each at least twice as long as the one before.
std::vector<std::int64_t> tried(const std::vector<std::int64_t>& lengths) {
  constexpr std::int64_t least = 8;
  std::vector<std::int64_t> all;
  for (const auto length : lengths)
    if (length >= least && (all.empty() || length >= 2 * all.back())) all.push_back(length);
  return all;
}

class Chunked {
 public:
  Chunked(const Diagram& diagram, const Goal& goal, const PlanOf& trial, const PlanOf& plan, const Divide& divide)
      : diagram_(diagram),
        goal_(goal),
        trial_(trial),
        plan_(plan),
        divide_(divide),
        lengths_(tried(chunk_lengths(diagram))) {}

  FoundPlan run() {
    if (lengths_.empty()) return plan_(diagram_, goal_);
    const auto first = best();
    auto other = planned(first, undivided(patience_of_the_best));
    if (const auto second = runner_up(first)) {
      auto another = planned(*second, as_good_divided(other.plan));
      divide(another);
      divide(other);
      if (worth(another.plan, goal_) < worth(other.plan, goal_)) other = std::move(another);
    } else {
      divide(other);
    }
    const bool more = reduced_values(diagram_) > hopeless * other.reduced;
    const auto as_written = near(other.plan, hurried(patience_of_the_best));
    if (!more && worth(plan_(diagram_, as_written), goal_) <= worth(other.plan, goal_)) return plan_(diagram_, goal_);
    other.plan.optimal = false, other.plan.gap.reset();  // other lengths were tried, not searched to the end
    return std::move(other.plan);
  }

 private:
  struct OfLength {
    FoundPlan plan;
    double reduced = 0;  // values, all together
  };
  OfLength planned(std::size_t at, const Goal& goal) {
    auto made = prefixes_in_chunks(diagram_, lengths_[at]);
    OfLength all{plan_(made.diagram, goal), reduced_values(made.diagram)};
    all.plan.prefixes = std::move(made.made);
    return all;
  }
  void divide(OfLength& planned) {
    if (worth(planned.plan, goal_) < HUGE_VAL)
      planned.plan = divide_(std::move(planned.plan), hurried(patience_of_the_best));
  }
  // A length whose trial came so close to the best one's that more patience may turn them round.
  std::optional<std::size_t> runner_up(std::size_t first) {
    constexpr double close = 1.1;
    std::optional<std::size_t> second;
    for (const auto& [at, seconds] : trials_)
      if (at != first && seconds < close * trials_.at(first) && (!second || seconds < trials_.at(*second))) second = at;
    return second;
  }
  // Uphill from a length in the middle.
  std::size_t best() {
    constexpr std::int64_t usual = 64;
    auto at = static_cast<std::size_t>(std::ranges::lower_bound(lengths_, usual) - lengths_.begin());
    at = std::min(at, lengths_.size() - 1);
    while (at + 1 < lengths_.size() && trial(at + 1) < trial(at)) ++at;
    while (at > 0 && trial(at - 1) < trial(at)) --at;
    return at;
  }
  double trial(std::size_t at) {
    if (const auto known = trials_.find(at); known != trials_.end()) return known->second;
    const auto made = prefixes_in_chunks(diagram_, lengths_[at]);
    return trials_[at] = worth(trial_(made.diagram, undivided(patience_of_a_trial)), goal_);
  }
  Goal hurried(double share) const {
    auto goal = goal_;
    goal.patience *= share;
    return goal;
  }
  // To look for a plan that may become better than this one once kernels of both are divided.
  Goal as_good_divided(const FoundPlan& found) const {
    constexpr double more = 1.25;
    auto goal = undivided(patience_of_the_best);
    goal.within = std::min(goal.within, more * worth(found, goal_));
    return goal;
  }
  Goal undivided(double share) const {
    auto goal = hurried(share);
    goal.divide = false;
    return goal;
  }

  const Diagram& diagram_;
  const Goal& goal_;
  const PlanOf &trial_, &plan_;
  const Divide& divide_;
  std::vector<std::int64_t> lengths_;
  std::map<std::size_t, double> trials_;
};

FoundPlan in_chunks_of(std::int64_t length, const Diagram& diagram, const Goal& goal, const PlanOf& plan) {
  auto made = prefixes_in_chunks(diagram, length);
  auto found = plan(made.diagram, goal);
  if (!made.made.empty()) found.optimal = false, found.gap.reset();  // no other length was looked at
  found.prefixes = std::move(made.made);
  return found;
}

}  // namespace

double worth(const FoundPlan& found, const Goal& goal) {
  if (found.plan.kernels.empty() || found.plan.kernels.size() < found.kernels.size()) return HUGE_VAL;
  if (goal.objective == Objective::energy) return found.cost.energy_j.value_or(HUGE_VAL);
  if (goal.objective == Objective::time) {
    const auto& time = goal.model == Model::ideal ? found.cost.ideal_time_s : found.cost.time_s;
    return time.value_or(HUGE_VAL);
  }
  double bytes = 0;
  for (const auto& kernel : found.cost.kernels) bytes += static_cast<double>(kernel.levels.front().transfer_bytes);
  return bytes;
}

Goal near(const FoundPlan& found, Goal goal) {
  const double more = found.divisions.empty() ? 1 : 1.5;
  goal.within = std::min(goal.within, more * worth(found, goal));
  return goal;
}

FoundPlan chunked(const Diagram& diagram, const Goal& goal, const PlanOf& trial, const PlanOf& plan,
                  const Divide& divide) {
  if (!goal.chunks || !goal.fixed.splits.empty()) return plan(diagram, goal);
  if (goal.chunk > 0) return in_chunks_of(goal.chunk, diagram, goal, plan);
  return Chunked(diagram, goal, trial, plan, divide).run();
}

}  // namespace napkin
