// The score of a partition: a list of numbers that are compared in order. Less is better.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <optional>
#include <vector>

#include "cost/figures/fits.hpp"
#include "cost/times/demand.hpp"
#include "cost/times/times.hpp"
#include "napkin/search.hpp"
#include "search/space.hpp"

namespace napkin {

// The objective, transfers from the outermost level inwards, the number of labels, and memory level by level.
struct Score {
  static constexpr std::size_t most_levels = 8;
  std::array<double, 2 + 2 * most_levels> parts{};
  auto operator<=>(const Score&) const = default;
  static Score greatest();
  // The index of a level's parts, on a machine with `levels` levels.
  static std::size_t transfers_at(std::size_t level) { return level; }
  static std::size_t memory_at(std::size_t level, std::size_t levels) {
    return std::min(levels, most_levels + 1) + level;
  }
  // The greatest score with this objective and these transfers at the outermost level.
  static Score at_most(double objective, double transfers);
};

class Scoring {
 public:
  // `nearest`: the objective is how far a partition is from fitting. If launches are timed, the time of a partition is
  // that of its launch; while the launch is open, operations and compulsory transfers are a lower bound.
  Scoring(const Space& space, const Goal& goal, bool nearest)
      : hardware_(*space.hardware),
        goal_(goal),
        nearest_(nearest),
        launches_(space.launches && !nearest),
        held_(space.held) {}
  bool times_launches() const { return launches_; }
  bool fits(const CostModel& model, const Figures& figures) const {
    return nearest_ ? !figures.overflow : napkin::fits(model, figures, goal_.model, held_);
  }
  // A launch that cores cannot run is no candidate.
  bool runs(const Launched& launched) const { return !launches_ || launched.state != Launched::State::cannot_run; }
  Score score(const CostModel&, const Figures&, std::size_t labels, Launched) const;
  // The first part of the score.
  double objective(const CostModel&, const Figures&, Launched) const;
  bool stopped() const { return goal_.stop.stop_requested(); }
  // By how much figures exceed capacities, relative to these.
  double excess(const CostModel&, const Figures&) const;
  // The deepest level, down to `level`, whose memory must not overflow.
  std::size_t last_held(std::size_t level) const { return nearest_ ? 0 : std::min(level, held_ - 1); }
  // Whether the arrays of one group at a level fit, or with `together` those of all groups of a parent.
  bool holds(const CostModel&, const Figures&, std::size_t level, bool together) const;
  // Whether this share of the innermost memories may hold state from piece to piece.
  bool keeps(double share) const { return nearest_ || share <= 1; }
  // What is known of a node that is to be bounded.
  struct Known {
    bool settled;       // the number of blocks is known
    std::size_t level;  // memory below it is unknown
    bool operations;    // no continuation computes less
  };
  // Sets `bound` to figures that no choice of the free sizes beats. `most` are the figures with every free size at its
  // largest, which moves least; `least` those with every free size at its smallest, which holds least.
  void optimistic(const Figures& most, const Figures& least, Known, Figures& bound) const;

 private:
  std::optional<double> seconds(const CostModel&, const Figures&, Launched) const;
  double energy(const CostModel&, const Figures&, std::optional<double> seconds, const Launched&) const;
  double least_launch(const Demand&) const;

  const Hardware& hardware_;
  const Goal& goal_;
  bool nearest_, launches_;
  std::size_t held_;     // levels whose memory counts
  mutable Times times_;  // reused
};

struct Ranked {
  Score score;
  Partition partition;
  auto operator<=>(const Ranked&) const = default;
};

// Some parts of a score that matter equally, and the relative difference in them that does not matter.
struct Trade {
  std::vector<std::size_t> parts;
  double tolerance = 0;
  // Whether no score from `other` on is better than `one` by more than the tolerance in any part.
  bool covers(const Score& one, const Score& other) const {
    return std::ranges::all_of(
        parts, [&](std::size_t part) { return one.parts[part] <= other.parts[part] * (1 + tolerance); });
  }
};

// The best partitions so far, best first: at most `most` that differ in their splits down to `level`, or, with a trade,
// those that cover all others.
class Incumbents {
 public:
  Incumbents(std::size_t most, std::size_t level) : most_(most), level_(level) {}
  explicit Incumbents(Trade trade) : most_(0), level_(0), trade_(std::move(trade)) {}
  // Whether all scores greater than one that is beyond are beyond too.
  bool in_order() const { return !trade_; }
  // Whether nothing with this score or a greater one can still be among the best. Partitions with equal scores are
  // compared themselves, so an equal score is not beyond.
  bool beyond(const Score& score) const {
    if (trade_) return std::ranges::any_of(best_, [&](const Ranked& one) { return trade_->covers(one.score, score); });
    return score > limit_ || (best_.size() == most_ && score > best_.back().score);
  }
  // From now on greater scores are beyond.
  void limit(const Score& limit) { limit_ = limit; }
  bool is_limited() const { return limit_ != Score::greatest(); }
  void offer(Ranked);
  const std::vector<Ranked>& best() const { return best_; }

 private:
  bool alike(const Partition&, const Partition&) const;
  void trade(Ranked);

  std::size_t most_, level_;
  std::optional<Trade> trade_;
  Score limit_ = Score::greatest();
  std::vector<Ranked> best_;
};

}  // namespace napkin
