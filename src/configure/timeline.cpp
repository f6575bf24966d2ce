// The timeline of one iteration: which warpgroup uses which resource for which column, and when.
#include "configure/timeline.hpp"

#include <algorithm>
#include <array>

namespace napkin {
namespace {

using Event = Pipelining::Event;
using Events = std::vector<Event>;

Events copies(const IterationClocks& clocks) {
  Events all;
  double now = 0;
  for (const auto& column : clocks.columns) {
    if (column.on != Resource::copy) continue;
    all.push_back({column.column, column.on, now, now + column.seconds});
    now += column.seconds;
  }
  return all;
}

// Events of a single warpgroup from `now` on: the columns that it waits for, one after another. With intra-warpgroup
// overlap, lanes work at the same time as the trailing contractions.
Events alone(const Mainloop& mainloop, const IterationClocks& clocks, Overlap overlap, double now) {
  Events events;
  double lanes = -1;
  for (const auto& column : mainloop.columns)
    for (const auto on : {Resource::fma, Resource::sfu, Resource::tensor}) {
      const auto found = std::ranges::find_if(
          clocks.columns, [&](const ColumnClocks& c) { return c.column == column.name && c.on == on; });
      if (found == clocks.columns.end()) continue;
      if (overlap == Overlap::intra_warpgroup && !column.contraction && lanes < 0) lanes = now;
      const bool beside = overlap == Overlap::intra_warpgroup && column.contraction &&
                          !column.contraction->rows.staged && on == Resource::tensor && lanes >= 0;
      const double begin = beside ? lanes : now;
      events.push_back({column.name, on, begin, begin + found->seconds});
      if (beside) lanes = begin + found->seconds;
      now = std::max(now, begin + found->seconds);
    }
  return events;
}

// Warpgroups in ping-pong with equal shares of the rows. One after another uses the matrix units until it needs lanes,
// and then uses the lanes. The matrix units wait at every handover.
class Turns {
 public:
  Turns(Events one, std::int64_t warpgroups, double handover)
      : one_(std::move(one)), warpgroups_(static_cast<std::size_t>(warpgroups)), now_(warpgroups_) {
    handover_ = handover / static_cast<double>(warpgroups);
    const auto first = one_.front().column;
    std::size_t turn = 0;
    while (turn < one_.size() && !begins_turn(turn)) ++turn;
    std::rotate(one_.begin(), one_.begin() + static_cast<std::ptrdiff_t>(turn % one_.size()), one_.end());
    first_ = static_cast<std::size_t>(std::ranges::find(one_, first, &Event::column) - one_.begin());
  }

  // Returns the iteration of the first warpgroup after this many others, and what the other warpgroups do at that time.
  Events run(int steps_before) {
    for (int step = 0; step < steps_before + 2; ++step)
      for (std::size_t begin = 0, end = 0; begin < one_.size(); begin = end) {
        do ++end;
        while (end < one_.size() && !begins_turn(end));
        for (std::size_t warpgroup = 0; warpgroup < warpgroups_; ++warpgroup)
          for (auto i = begin; i < end; ++i) take(warpgroup, i);
      }
    return between(begun_[begun_.size() - 2], begun_.back());
  }

 private:
  bool begins_turn(std::size_t i) const {
    const auto& before = one_[(i + one_.size() - 1) % one_.size()];
    return one_[i].on == Resource::tensor && before.on != Resource::tensor;
  }
  void take(std::size_t warpgroup, std::size_t i) {
    const auto& column = one_[i];
    const auto on = static_cast<std::size_t>(column.on);
    const bool passes = column.on == Resource::tensor && last_ != warpgroup;
    const double begin = std::max(now_[warpgroup], free_[on] + (passes ? handover_ : 0));
    if (column.on == Resource::tensor) last_ = warpgroup;
    now_[warpgroup] = free_[on] = begin + (column.end_s - column.begin_s) / static_cast<double>(warpgroups_);
    done_.push_back({column.column, column.on, begin, now_[warpgroup], static_cast<std::int64_t>(warpgroup)});
    if (warpgroup == 0 && i == first_) begun_.push_back(begin);
  }
  Events between(double from, double to) const {
    Events all;
    for (auto event : done_) {
      event.begin_s = std::max(0.0, event.begin_s - from), event.end_s = std::min(to, event.end_s) - from;
      if (event.end_s > event.begin_s + (to - from) * 1e-9) all.push_back(std::move(event));
    }
    std::ranges::stable_sort(all, {}, [](const Event& e) { return std::pair(e.warpgroup, e.begin_s); });
    return all;
  }

  Events one_;  // an iteration, from the beginning of a turn
  std::size_t warpgroups_, first_ = 0, last_ = 0;
  double handover_ = 0;
  std::vector<double> now_, begun_;
  std::array<double, 5> free_{};
  Events done_;
};

}  // namespace

std::vector<Pipelining::Event> timeline(const Mainloop& mainloop, const IterationClocks& clocks, Overlap overlap) {
  constexpr int under_way = 12;
  auto all = copies(clocks);
  const double waited = overlap == Overlap::none && !all.empty() ? all.back().end_s : 0;
  auto warpgroup = alone(mainloop, clocks, overlap, waited);
  if (in_turn(overlap) && !warpgroup.empty())
    warpgroup =
        Turns(std::move(warpgroup), overlap == Overlap::ping_pong_of_two ? 2 : 3, clocks.handover).run(under_way);
  all.insert(all.end(), warpgroup.begin(), warpgroup.end());
  return all;
}

}  // namespace napkin
