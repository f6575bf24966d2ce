#include "search/plans/ordered.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace napkin {
namespace {

// Share of the patience of a search of the file's own statements.
constexpr double patience_of_an_order = 0.125;
constexpr int most_contractions = 8;  // of one diagram
constexpr int most_refused = 4;
constexpr double much = 0.98;         // of the time as written: what a rounding must cost to be told
constexpr double noticeable = 0.995;  // of the time of the file's own order: another one has to be faster than that

double operations(const Cost& cost) {
  double all = 0;
  for (const auto& kernel : cost.kernels)
    for (const auto& unit : kernel.units) all += unit.asked;
  return all;
}

class Ordering {
 public:
  Ordering(const Diagram& diagram, const Goal& goal, const PlanOf& plan) : goal_(goal), plan_(plan), best_(diagram) {
    trial_ = goal;
    trial_.patience *= patience_of_an_order, trial_.top = 1;
  }

  FoundPlan run() {
    auto all = contractions(best_);
    for (int tried = 0; tried < most_contractions; ++tried) {
      const auto next = std::ranges::find_if(all, [&](const ContractionOrders& one) { return is_open(one); });
      if (next == all.end()) break;
      decided_.emplace(next->statement, next->which);
      if (decide(*next)) all = contractions(best_);
    }
    auto found = plan_(best_, goal_);
    found.ordered = best_;
    judge(found);
    found.orders = std::move(taken_);
    return told(std::move(found), all);
  }

 private:
  struct Tried {
    double worth = HUGE_VAL;
    std::optional<double> time_s{};      // if time is the objective
    std::optional<double> operations{};  // of all units, if the plan fits
    double least = 0;                    // no plan of this form is worth less
  };

  // Arrays that an earlier order has added are already in their best order.
  bool is_open(const ContractionOrders& one) const {
    return !one.forms.empty() && !decided_.contains({one.statement, one.which}) && !added_.contains(one.statement);
  }
  bool decide(const ContractionOrders& one) {
    if (!compared_) compared_ = trial(best_);
    ++tried_;
    const auto before = *compared_;
    const ContractionForm* best = nullptr;
    for (const auto& form : one.forms) {
      const auto made = trial(form.diagram);
      const bool better = made.worth < noticeable * compared_->worth;
      others_ = std::min(others_, better ? compared_->least : made.least);
      if (better) compared_ = made, best = &form;
    }
    if (!best) return false;
    best_ = best->diagram;
    added_.insert(best->made.begin(), best->made.end());
    taken_.push_back({one.statement, one.factors, best->made, best->met, before.operations.value_or(one.operations),
                      compared_->operations.value_or(best->operations), before.time_s, compared_->time_s});
    return true;
  }
  Tried trial(const Diagram& diagram) {
    const auto found = plan_(diagram, trial_);
    const auto value = worth(found, goal_);
    const auto time = goal_.objective == Objective::time ? found.cost.time_s : std::nullopt;
    return {value, time, value < HUGE_VAL ? std::optional(operations(found.cost)) : std::nullopt, least(found, value)};
  }
  static double least(const FoundPlan& found, double value) {
    return found.optimal ? value : found.gap ? value * (1 - *found.gap) : 0;
  }
  // A plan is optimal only if none of the orders that lost could have a better one. If an order was taken and another
  // contraction was decided, too, not all of their orders were compared with each other.
  void judge(FoundPlan& found) const {
    if (tried_ == 0) return;
    const bool all_compared = tried_ == 1 || taken_.empty();
    const auto value = worth(found, goal_), below = all_compared ? std::min(others_, least(found, value)) : 0;
    if (below >= noticeable * value) return;
    found.optimal = false;
    found.gap = below > 0 ? std::optional(1 - below / value) : std::nullopt;
  }

  // Adds the orders that a rounding forbids, if that costs a noticeable time.
  FoundPlan told(FoundPlan found, const std::vector<ContractionOrders>& all) {
    int tried = 0;
    for (const auto& one : all) {
      if (!one.refused || tried++ >= most_refused || goal_.stop.stop_requested()) continue;
      if (!compared_) compared_ = trial(best_);
      const auto without = trial(one.refused->diagram);
      if (without.worth < much * compared_->worth)
        found.refused_orders.push_back(
            {one.statement, one.refused->rounded, compared_->operations.value_or(one.refused->operations_as_written),
             without.operations.value_or(one.refused->operations), compared_->time_s, without.time_s});
    }
    return found;
  }

  const Goal& goal_;
  const PlanOf& plan_;
  Goal trial_;
  Diagram best_;  // with what was decided
  std::set<std::pair<std::string, std::size_t>> decided_;
  std::set<std::string> added_;
  std::vector<OrderTaken> taken_;
  std::optional<Tried> compared_;  // the plan of it
  int tried_ = 0;
  double others_ = HUGE_VAL;  // no plan of an order that lost is worth less
};

}  // namespace

FoundPlan ordered(const Diagram& diagram, const Goal& goal, const PlanOf& plan) {
  return goal.orders && goal.fixed.splits.empty() ? Ordering(diagram, goal, plan).run() : plan(diagram, goal);
}

}  // namespace napkin
