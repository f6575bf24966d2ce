#include "search/plans/chunked.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "diagram/operands.hpp"
#include "napkin/derive.hpp"

namespace napkin {
namespace {

// Shares of the patience of a search of the file's own statements: for the trial of a chunk length, for the best
// length, and for chunks in groups.
constexpr double patience_of_a_trial = 0.01, patience_of_the_best = 0.4, patience_of_groups = 0.2;
constexpr double hopeless = 32;  // a form that reduces this many times as much is not planned

// Returns the number of values that are reduced, all together.
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

// Returns the chunk lengths to try, each at least twice as long as the one before.
std::vector<std::int64_t> tried(const std::vector<std::int64_t>& lengths) {
  constexpr std::int64_t least = 8;
  std::vector<std::int64_t> all;
  for (const auto length : lengths)
    if (length >= least && (all.empty() || length >= 2 * all.back())) all.push_back(length);
  return all;
}

// How prefixes are divided: positions per chunk, and chunks per group, which is 0 without groups.
struct ChunkSizes {
  std::int64_t length = 1, of_group = 0;
  auto operator<=>(const ChunkSizes&) const = default;
};
PrefixesInChunks in_chunks(const Diagram& diagram, ChunkSizes by) {
  return by.of_group > 0 ? prefixes_in_groups(diagram, by.length, by.of_group) : prefixes_in_chunks(diagram, by.length);
}

// True if one kernel of all statements except those that groups add can process the chunks of a group in order.
bool goes_in_order(const PrefixesInChunks& made) {
  std::set<std::string> of_groups;
  for (const auto& one : made.made)
    if (one.of_groups) of_groups.insert(one.states.begin(), one.states.end());
  std::vector<StatementId> others;
  for (std::uint32_t i = 0; i < made.diagram.statements.size(); ++i)
    if (!of_groups.contains(made.diagram.at(made.diagram.statements[i].output).name)) others.push_back({i});
  const auto derivation = derive(made.diagram, others);
  return std::ranges::any_of(derivation.verdicts, [](const Verdict& verdict) {
    const auto* stream = std::get_if<Streamable>(&verdict.stream);
    return stream && stream->in_order;
  });
}

class Chunked {
 public:
  Chunked(const Diagram& diagram, const Goal& goal, const PlanOf& trial, const PlanOf& plan, const Divide& divide)
      : diagram_(diagram),
        goal_(goal),
        trial_(trial),
        plan_(plan),
        divide_(divide),
        lengths_(goal.chunk > 0 ? std::vector{goal.chunk} : tried(chunk_lengths(diagram))) {}

  FoundPlan run() {
    if (lengths_.empty()) return plan_(diagram_, goal_);
    auto other = planned();
    if (goal_.chunk > 0) return std::move(other.plan);
    const bool more = reduced_values(diagram_) > hopeless * other.reduced;
    const auto as_written = near(other.plan, hurried(patience_of_the_best));
    if (!more && worth(plan_(diagram_, as_written), goal_) <= worth(other.plan, goal_)) return plan_(diagram_, goal_);
    return std::move(other.plan);
  }

 private:
  struct Planned {
    FoundPlan plan;
    double reduced = 0;  // values, all together
  };
  Planned planned() {
    const auto first = best_chunks();
    auto found = planned(first, undivided(patience_of_the_best));
    std::optional<Planned> another;
    if (const auto second = runner_up(first)) divide(another.emplace(planned(*second, as_good_divided(found.plan))));
    divide(found);
    if (another && worth(another->plan, goal_) < worth(found.plan, goal_)) found = std::move(*another);
    for (const std::int64_t positions : {1024, 2048})
      if (!any_better(positions, found)) break;
    // Other chunk sizes were tried, but not searched to the end.
    if (!found.plan.prefixes.empty()) found.plan.optimal = false, found.plan.gap.reset();
    return found;
  }
  // Tries short chunks, which one kernel processes in order. Their groups are short enough that most axes have several.
  // A trial would not find that kernel.
  bool any_better(std::int64_t positions, Planned& found) {
    bool any = false;
    for (const std::int64_t length : {16, 32}) {
      const auto near = lengths_[near_to(length)];
      const ChunkSizes by{near, positions / near};
      any |= is_possible(by) && is_better(by, found);
    }
    return any;
  }
  bool is_better(ChunkSizes by, Planned& found) {
    auto another = planned(by, near(found.plan, undivided(patience_of_groups)));
    const bool better = worth(another.plan, goal_) < worth(found.plan, goal_);
    if (better) found = std::move(another);
    return better;
  }
  Planned planned(ChunkSizes by, const Goal& goal) {
    auto made = in_chunks(diagram_, by);
    Planned all{plan_(made.diagram, goal), reduced_values(made.diagram)};
    all.plan.prefixes = std::move(made.made);
    return all;
  }
  void divide(Planned& planned) {
    if (worth(planned.plan, goal_) < HUGE_VAL)
      planned.plan = divide_(std::move(planned.plan), hurried(patience_of_the_best));
  }
  // Returns the chunk sizes whose trial came so close to the best one that more patience may reverse their order.
  std::optional<ChunkSizes> runner_up(ChunkSizes first) {
    constexpr double close = 1.1;
    std::optional<ChunkSizes> second;
    for (const auto& [by, seconds] : trials_)
      if (by != first && seconds < close * trials_.at(first) && (!second || seconds < trials_.at(*second))) second = by;
    return second;
  }
  // Finds the best chunk length by hill climbing from a length in the middle.
  ChunkSizes best_chunks() {
    auto at = near_to(64);
    const auto seconds = [&](std::size_t i) { return trial({lengths_[i], 0}); };
    while (at + 1 < lengths_.size() && seconds(at + 1) < seconds(at)) ++at;
    while (at > 0 && seconds(at - 1) < seconds(at)) --at;
    return {lengths_[at], 0};
  }
  std::size_t near_to(std::int64_t length) const {
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(lengths_, length) - lengths_.begin());
    return std::min(at, lengths_.size() - 1);
  }
  bool is_possible(ChunkSizes by) {
    if (by.of_group < 2) return false;
    const auto [known, fresh] = possible_.try_emplace(by, false);
    if (fresh) {
      const auto made = in_chunks(diagram_, by);
      known->second = !made.made.empty() && goes_in_order(made);
    }
    return known->second;
  }
  double trial(ChunkSizes by) {
    if (const auto known = trials_.find(by); known != trials_.end()) return known->second;
    return trials_[by] = worth(trial_(in_chunks(diagram_, by).diagram, undivided(patience_of_a_trial)), goal_);
  }
  Goal hurried(double share) const {
    auto goal = goal_;
    goal.patience *= share;
    return goal;
  }
  // Returns the goal of a search for a plan that may become better than this one once kernels of both are divided.
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
  std::map<ChunkSizes, double> trials_;
  std::map<ChunkSizes, bool> possible_;
};

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
  return Chunked(diagram, goal, trial, plan, divide).run();
}

}  // namespace napkin
