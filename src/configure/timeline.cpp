// A step, column by column -> who does what when.
#include "configure/timeline.hpp"

#include <algorithm>
#include <array>

namespace napkin {
namespace {

using Event = Pipelining::Event;
using Events = std::vector<Event>;

Events copies(const StepClocks& clocks) {
  Events all;
  double now = 0;
  for (const auto& column : clocks.columns) {
    if (column.on != Resource::copy) continue;
    all.push_back({column.column, column.on, now, now + column.seconds});
    now += column.seconds;
  }
  return all;
}

// One team alone from `now` on: what it waits for, one after another; within a team the lanes work beside the trailing
// contractions.
Events alone(const BlockStep& step, const StepClocks& clocks, Overlap overlap, double now) {
  Events events;
  double lanes = -1;
  for (const auto& column : step.columns)
    for (const auto on : {Resource::fma, Resource::sfu, Resource::tensor}) {
      const auto found = std::ranges::find_if(
          clocks.columns, [&](const ColumnClocks& c) { return c.column == column.name && c.on == on; });
      if (found == clocks.columns.end()) continue;
      if (overlap == Overlap::within_team && !column.contraction && lanes < 0) lanes = now;
      const bool beside = overlap == Overlap::within_team && column.contraction && !column.contraction->rows.staged &&
                          on == Resource::tensor && lanes >= 0;
      const double begin = beside ? lanes : now;
      events.push_back({column.name, on, begin, begin + found->seconds});
      if (beside) lanes = begin + found->seconds;
      now = std::max(now, begin + found->seconds);
    }
  return events;
}

// Teams with equal shares of the rows. One after another has the matrix units until it needs lanes, and then the lanes;
// the matrix units wait when they pass on.
class Turns {
 public:
  Turns(Events one, std::int64_t teams, double handover)
      : one_(std::move(one)), teams_(static_cast<std::size_t>(teams)), now_(teams_) {
    handover_ = handover / static_cast<double>(teams);
    const auto first = one_.front().column;
    std::size_t turn = 0;
    while (turn < one_.size() && !begins_turn(turn)) ++turn;
    std::rotate(one_.begin(), one_.begin() + static_cast<std::ptrdiff_t>(turn % one_.size()), one_.end());
    first_ = static_cast<std::size_t>(std::ranges::find(one_, first, &Event::column) - one_.begin());
  }

  // The first team's step after so many, and what the others do meanwhile.
  Events run(int steps_before) {
    for (int step = 0; step < steps_before + 2; ++step)
      for (std::size_t begin = 0, end = 0; begin < one_.size(); begin = end) {
        do ++end;
        while (end < one_.size() && !begins_turn(end));
        for (std::size_t team = 0; team < teams_; ++team)
          for (auto i = begin; i < end; ++i) take(team, i);
      }
    return between(begun_[begun_.size() - 2], begun_.back());
  }

 private:
  bool begins_turn(std::size_t i) const {
    const auto& before = one_[(i + one_.size() - 1) % one_.size()];
    return one_[i].on == Resource::tensor && before.on != Resource::tensor;
  }
  void take(std::size_t team, std::size_t i) {
    const auto& column = one_[i];
    const auto on = static_cast<std::size_t>(column.on);
    const bool passes = column.on == Resource::tensor && last_ != team;
    const double begin = std::max(now_[team], free_[on] + (passes ? handover_ : 0));
    if (column.on == Resource::tensor) last_ = team;
    now_[team] = free_[on] = begin + (column.end_s - column.begin_s) / static_cast<double>(teams_);
    done_.push_back({column.column, column.on, begin, now_[team], static_cast<std::int64_t>(team)});
    if (team == 0 && i == first_) begun_.push_back(begin);
  }
  Events between(double from, double to) const {
    Events all;
    for (auto event : done_) {
      event.begin_s = std::max(0.0, event.begin_s - from), event.end_s = std::min(to, event.end_s) - from;
      if (event.end_s > event.begin_s + (to - from) * 1e-9) all.push_back(std::move(event));
    }
    std::ranges::stable_sort(all, {}, [](const Event& e) { return std::pair(e.team, e.begin_s); });
    return all;
  }

  Events one_;  // a step, from where a turn begins
  std::size_t teams_, first_ = 0, last_ = 0;
  double handover_ = 0;
  std::vector<double> now_, begun_;
  std::array<double, 5> free_{};
  Events done_;
};

}  // namespace

std::vector<Pipelining::Event> timeline(const BlockStep& step, const StepClocks& clocks, Overlap overlap) {
  constexpr int under_way = 12;
  auto all = copies(clocks);
  const double waited = overlap == Overlap::none && !all.empty() ? all.back().end_s : 0;
  auto team = alone(step, clocks, overlap, waited);
  const bool turns = overlap == Overlap::two_teams || overlap == Overlap::three_teams;
  if (turns && !team.empty())
    team = Turns(std::move(team), overlap == Overlap::two_teams ? 2 : 3, clocks.handover).run(under_way);
  all.insert(all.end(), team.begin(), team.end());
  return all;
}

}  // namespace napkin
