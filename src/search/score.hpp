// What makes one partition better than another: a list of numbers compared in order, least first.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <optional>
#include <vector>

#include "cost/model.hpp"
#include "napkin/search.hpp"
#include "search/space.hpp"

namespace napkin {

// The objective, transfers from the outermost level inwards, the number of labels, and memory level by level.
struct Score {
  static constexpr std::size_t most_levels = 8;
  std::array<double, 2 + 2 * most_levels> parts{};
  auto operator<=>(const Score&) const = default;
  static Score greatest();
  // Where the parts of a level stand, on a machine of so many levels.
  static std::size_t transfers_at(std::size_t level) { return level; }
  static std::size_t memory_at(std::size_t level, std::size_t levels) {
    return std::min(levels, most_levels + 1) + level;
  }
  // Of all scores with this objective and these transfers at the outermost level, the greatest.
  static Score at_most(double objective, double transfers);
};

class Scoring {
 public:
  // `nearest`: the objective is how far a partition is from fitting. Where launches are timed a partition takes as long
  // as its launch, and one that is still open no less than its operations and its compulsory transfers.
  Scoring(const Space& space, const Goal& goal, bool nearest)
      : hardware_(*space.hardware),
        goal_(goal),
        nearest_(nearest),
        launches_(space.launches && !nearest),
        held_(space.held) {}
  bool times_launches() const { return launches_; }
  bool fits(const CostModel& model, const Figures& figures) const {
    return nearest_ ? !figures.overflow : model.fits(figures, goal_.model, held_);
  }
  // What cores cannot run is no candidate.
  bool runs(const Launched& launched) const { return !launches_ || launched.state != Launched::State::cannot_run; }
  Score score(const CostModel&, const Figures&, std::size_t labels, Launched) const;
  // Its first part.
  double objective(const CostModel&, const Figures&, Launched) const;
  bool stopped() const { return goal_.stop.stop_requested(); }
  // By how much figures do not fit, in parts of what there is.
  double excess(const CostModel&, const Figures&) const;
  // Of the levels down to one, the last whose memory must hold anything.
  std::size_t last_held(std::size_t level) const { return nearest_ ? 0 : std::min(level, held_ - 1); }
  // Whether one group at a level, or with `together` all groups of a parent, hold what they must.
  bool holds(const CostModel&, const Figures&, std::size_t level, bool together) const;
  // Whether so much of the innermost memories may be kept from piece to piece.
  bool keeps(double share) const { return nearest_ || share <= 1; }
  // How far a node goes that is to be bounded.
  struct Known {
    bool settled;       // the number of blocks
    std::size_t level;  // memory below it is unknown
    bool operations;    // what follows computes no less
  };
  // Figures that no choice of the free sizes beats. `most` are those with every free size at its largest, where least
  // is moved; `least` with every free size at its smallest, where least is held.
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

// Some parts of a score, none of which weighs more than another, and the share that makes no difference in them.
struct Trade {
  std::vector<std::size_t> parts;
  double tolerance = 0;
  // Whether nothing with the other score, or a greater one, is better by more than that in any part.
  bool covers(const Score& one, const Score& other) const {
    return std::ranges::all_of(
        parts, [&](std::size_t part) { return one.parts[part] <= other.parts[part] * (1 + tolerance); });
  }
};

// The best few so far, best first, of those that differ in their splits down to `level`; or those that cover all.
class Incumbents {
 public:
  Incumbents(std::size_t most, std::size_t level) : most_(most), level_(level) {}
  explicit Incumbents(Trade trade) : most_(0), level_(0), trade_(std::move(trade)) {}
  // Whether what is beyond is all that is greater.
  bool in_order() const { return !trade_; }
  // Whether nothing with this score or a greater one can still be among the best. Equal scores are settled by the
  // partitions themselves, so an equal one must be looked at.
  bool beyond(const Score& score) const {
    if (trade_) return std::ranges::any_of(best_, [&](const Ranked& one) { return trade_->covers(one.score, score); });
    return score > limit_ || (best_.size() == most_ && score > best_.back().score);
  }
  // Nothing with a greater score is wanted.
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
