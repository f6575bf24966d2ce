// Computes the score of a partition from its figures, and a bound for the scores of all partitions that begin alike.
//
// Why the bound holds. Larger pieces are fewer, so that less is loaded again and less is computed again: transfers,
// operations and loop iterations never grow with a size. Larger pieces fill more memory, which never shrinks with a
// size. The time of a machine never shrinks when transfers, operations, memory or iterations grow and the number of
// blocks stays the same. While that number is free, the bound assumes that every core is busy all the time.
#include "search/score.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "cost/times/energy.hpp"
#include "hardware/assumptions.hpp"

namespace napkin {
namespace {

std::int64_t moved(const Level& level, const Figures::At& at) {
  return level.in_values ? at.transfer_values : at.transfer_bytes;
}

}  // namespace

double Scoring::excess(const CostModel& model, const Figures& figures) const {
  double all = std::max(0.0, model.outermost / hardware_.levels[0].room() - 1);
  for (std::size_t i = 1; i < hardware_.levels.size(); ++i) {
    const auto& level = hardware_.levels[i];
    const auto& at = figures.levels[i];
    const auto one = static_cast<double>(held_by_one(level, at, goal_.model));
    const auto groups = static_cast<double>(at.groups_per_parent);
    double over = i < held_ ? std::max(0.0, one / model.rooms.at(i, at.groups_per_parent) - 1) : 0;
    if (i < held_)
      over = std::max(over, static_cast<double>(held_by_all(level, at, goal_.model)) / model.rooms.of_all[i] - 1);
    if (level.max_groups) over += std::max(0.0, groups / static_cast<double>(*level.max_groups) - 1);
    all += over;
  }
  return all;
}

// Returns a lower bound of the launch time: see the lines that `launch_of` adds up.
double Scoring::least_launch(const Demand& demand) const {
  const auto core = *hardware_.core;
  const double cores = static_cast<double>(hardware_.total(core)) / static_cast<double>(demand.blocks);
  double seconds = std::max(demand.units_s * cores * least_rounds(demand).all(), demand.outer_s);
  if (const auto& bandwidth = hardware_.levels[core].bandwidth)
    seconds = std::max(seconds, demand.compulsory_bytes / bandwidth->reached());
  if (hardware_.limits.launch_seconds) seconds += hardware_.limits.launch_seconds->value;
  return seconds * (1 - 1e-12);  // added up in another order
}

double Scoring::objective(const CostModel& model, const Figures& figures, Launched launched) const {
  if (nearest_) return excess(model, figures);
  if (goal_.objective == Objective::transfers) return 0;
  const auto taken = seconds(model, figures, launched);
  if (goal_.objective == Objective::time) return taken.value_or(0);
  return energy(model, figures, taken, launched);
}

double Scoring::energy(const CostModel& model, const Figures& figures, std::optional<double> seconds,
                       const Launched& launched) const {
  if (!launches_) return energy_of(model, figures, seconds, hardware_.levels.size()).value_or(0);
  const auto joules = energy_of(model, figures, seconds, held_);
  const auto* price = held_ < hardware_.levels.size() ? &hardware_.levels[held_].energy_per_byte : nullptr;
  return joules.value_or(0) + (price && *price ? launched.inner_bytes * (*price)->value : 0);
}

std::optional<double> Scoring::seconds(const CostModel& model, const Figures& figures, Launched launched) const {
  if (launches_ && launched.state == Launched::State::timed) return launched.seconds;
  if (launches_ && launched.state == Launched::State::open)
    return std::max(launched.seconds, least_launch(demand_of(model, figures)));
  find_times(model, figures, times_);
  if (goal_.model == Model::ideal && goal_.objective == Objective::time) return times_.ideal;
  constexpr double never = 1e6;  // seconds: behind everything that runs
  return launches_ ? times_.machine.value_or(0) + never : times_.machine;
}

Score Scoring::score(const CostModel& model, const Figures& figures, std::size_t labels, Launched launched) const {
  Score score;
  std::size_t at = 0;
  score.parts[at++] = objective(model, figures, launched);
  const auto levels = std::min(hardware_.levels.size(), Score::most_levels + 1);
  for (std::size_t i = 1; i < levels; ++i)
    score.parts[at++] = static_cast<double>(moved(hardware_.levels[i], figures.levels[i]));
  score.parts[at++] = static_cast<double>(labels);
  for (std::size_t i = 1; i < levels; ++i)
    score.parts[at++] = static_cast<double>(held_by_one(hardware_.levels[i], figures.levels[i], goal_.model));
  return score;
}

bool Scoring::holds(const CostModel& model, const Figures& figures, std::size_t level, bool together) const {
  if (nearest_ || level >= held_) return true;
  const auto& memory = hardware_.levels[level];
  const auto& at = figures.levels[level];
  if (!together && static_cast<double>(held_by_one(memory, at, goal_.model)) > model.rooms.at(level, 1))
    return false;  // the fewest groups have most room
  return static_cast<double>(held_by_all(memory, at, goal_.model)) <= model.rooms.of_all[level];
}

void Scoring::optimistic(const Figures& most, const Figures& least, Known known, Figures& bound) const {
  bound.levels = most.levels;
  bound.steps = most.steps;
  if (known.operations)
    bound.operations = most.operations;
  else
    bound.operations.assign(most.operations.size(), 0);
  for (std::size_t i = 1; i < bound.levels.size(); ++i) {
    auto& at = bound.levels[i];
    const auto& held = i <= known.level ? least.levels[i] : Figures::At{};
    at.memory_values = held.memory_values;
    at.memory_bytes = held.memory_bytes;
    at.ideal_memory_values = held.ideal_memory_values;
    at.ideal_memory_bytes = held.ideal_memory_bytes;
    at.fullest_values = held.fullest_values;
    at.fullest_bytes = held.fullest_bytes;
    at.ideal_fullest_values = held.ideal_fullest_values;
    at.ideal_fullest_bytes = held.ideal_fullest_bytes;
    // Smaller pieces may be skipped where larger ones are not.
    if (i > known.level && !known.operations) at.transfer_values = at.transfer_bytes = 0;
  }
  bound.overflow = false;
  if (known.settled) return;
  bound.steps /= blocks_together(hardware_.limits);  // which wait at the same time
  const auto core = hardware_.core.value_or(1);
  auto& at = bound.levels[core];
  const auto cores = hardware_.total(core);
  at.ideal_memory_bytes =
      static_cast<std::int64_t>(static_cast<double>(at.ideal_memory_bytes) / static_cast<double>(cores) *
                                static_cast<double>(std::min(cores, at.groups)));
  for (std::size_t i = 1; i <= core; ++i) {
    bound.levels[i].groups = hardware_.total(i);
    bound.levels[i].groups_per_parent = hardware_.levels[i].count;
  }
}

Score Score::greatest() {
  Score score;
  score.parts.fill(std::numeric_limits<double>::infinity());
  return score;
}

Score Score::at_most(double objective, double transfers) {
  auto score = greatest();
  score.parts[0] = objective;
  score.parts[1] = transfers;
  return score;
}

bool Incumbents::alike(const Partition& a, const Partition& b) const {
  const auto outer = [&](const Partition& partition) {
    std::vector<Split> splits;
    std::ranges::copy_if(partition.splits, std::back_inserter(splits),
                         [&](const Split& s) { return s.level <= level_; });
    return splits;
  };
  return outer(a) == outer(b);
}

// The candidate replaces the incumbents that it beats or equals in every part, because it also covers everything that
// they cover.
void Incumbents::trade(Ranked candidate) {
  if (beyond(candidate.score)) return;
  const Trade exactly{trade_->parts, 0};
  std::erase_if(best_, [&](const Ranked& one) { return exactly.covers(candidate.score, one.score); });
  best_.insert(std::ranges::lower_bound(best_, candidate), std::move(candidate));
}

void Incumbents::offer(Ranked candidate) {
  if (trade_) return trade(std::move(candidate));
  const auto rival =
      std::ranges::find_if(best_, [&](const Ranked& one) { return alike(one.partition, candidate.partition); });
  if (rival != best_.end()) {
    if (*rival <= candidate) return;
    best_.erase(rival);
  }
  best_.insert(std::ranges::lower_bound(best_, candidate), std::move(candidate));
  if (best_.size() > most_) best_.pop_back();
}

}  // namespace napkin
