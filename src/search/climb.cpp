// Hill climbing over the sizes of one shape, split by split.
#include "search/climb.hpp"

#include <algorithm>
#include <functional>

#include "cost/figures/evaluate.hpp"
#include "cost/regions/by_sizes.hpp"

namespace napkin {
namespace {

class Climber {
 public:
  Climber(const Space& space, const Scoring& scoring, const Shape& shape, PieceSizes& pieces, std::int64_t& evaluated)
      : space_(space),
        scoring_(scoring),
        shape_(shape),
        pieces_(pieces),
        splits_(shape.partition.splits),
        evaluated_(evaluated) {}

  std::optional<Climbed> run(const Ascent& ascent) {
    for (const auto& split : splits_) sizes_.push_back(split.level < space_.first ? split.size : 0);
    if (!begin(ascent.first)) return std::nullopt;
    best_ = height();
    for (int round = 0; ascent.far && round < most_rounds && look_far(); ++round) {
    }
    for (const std::ptrdiff_t step : {8, 4, 2, 1})
      for (int round = 0; round < most_rounds && turn(step); ++round) {
      }
    if (best_.excess > 0) return std::nullopt;
    return Climbed{best_.score, sizes_};
  }

 private:
  static constexpr int most_rounds = 40;
  // Compares first by how much capacities are exceeded, then by score.
  struct Height {
    double excess = 0;
    Score score;
    auto operator<=>(const Height&) const = default;
  };

  std::int64_t extent(std::size_t split) const {
    auto extent = space_.derivation->scratch.size(splits_[split].wire).value_or(1);
    for (std::size_t i = 0; i < split; ++i)
      if (splits_[i].wire == splits_[split].wire) extent = std::min(extent, sizes_[i]);
    return extent;
  }
  // Returns the sizes to choose from, the largest first. A stream cannot have the whole piece.
  std::span<const std::int64_t> choices(std::size_t split) const {
    const std::span<const std::int64_t> sizes = pieces_.of(extent(split), space_.grain(splits_[split]));
    return splits_[split].kind == SplitKind::stream ? sizes.subspan(1) : sizes;
  }
  // Starts with pieces no larger than `first`, or with the smallest, but leaves room for the streams inside to divide
  // them.
  bool begin(std::int64_t first) {
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      if (splits_[i].level < space_.first) continue;
      const auto sizes = choices(i);
      const auto inside =
          std::count_if(splits_.begin() + static_cast<std::ptrdiff_t>(i) + 1, splits_.end(),
                        [&](const Split& s) { return s.wire == splits_[i].wire && s.kind == SplitKind::stream; });
      if (sizes.empty()) return false;
      const auto at = std::ranges::lower_bound(sizes, first, std::greater{}) - sizes.begin();
      sizes_[i] = sizes[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(std::ssize(sizes) - 1 - inside, 0, at))];
    }
    return true;
  }
  // Replaces every size by the nearest one of the space that is not larger, or by the smallest. Returns false if a
  // stream has nothing left to divide.
  bool settle() {
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      if (splits_[i].level < space_.first) continue;
      const auto sizes = choices(i);
      if (sizes.empty()) return false;
      const auto fitting = std::ranges::find_if(sizes, [&](std::int64_t size) { return size <= sizes_[i]; });
      sizes_[i] = fitting == sizes.end() ? sizes.back() : *fitting;
    }
    return true;
  }
  // Moves every split once and returns whether any move was better. Moving all splits one after another keeps pieces in
  // proportion.
  bool turn(std::ptrdiff_t step) {
    bool moved = false;
    for (std::size_t i = 0; i < splits_.size(); ++i) moved = move(i, -step) || move(i, step) || moved;
    if (moved || step > 1) return moved;
    for (std::size_t i = 0; i < splits_.size(); ++i)
      for (std::size_t j = 0; j < splits_.size(); ++j)
        if (i != j) moved = trade(i, j) || moved;
    return moved;
  }
  // Sets each split to the best of a dozen sizes. If that changes nothing, sets each pair of splits to its best sizes.
  bool look_far() {
    bool moved = false;
    for (std::size_t i = 0; i < splits_.size(); ++i)
      for (const auto size : some_choices(i)) moved = set(i, size) || moved;
    for (std::size_t i = 0; i < splits_.size() && !moved; ++i)
      for (std::size_t j = i + 1; j < splits_.size(); ++j) moved = set_both(i, j) || moved;
    return moved;
  }
  bool set_both(std::size_t outer, std::size_t inner) {
    auto best = sizes_;
    bool moved = false;
    for (const auto size : some_choices(outer)) {
      sizes_ = best;
      sizes_[outer] = size;
      if (!settle()) continue;
      const auto within = sizes_;
      for (const auto other : some_choices(inner)) {
        sizes_ = within;
        sizes_[inner] = other;
        if (keep_if_better(settle(), best)) best = sizes_, moved = true;
      }
    }
    sizes_ = best;
    return moved;
  }
  std::vector<std::int64_t> some_choices(std::size_t split) const {
    std::vector<std::int64_t> some;
    if (splits_[split].level < space_.first) return some;
    const auto all = choices(split);
    const auto step = std::max<std::ptrdiff_t>(1, std::ssize(all) / 12);
    for (std::ptrdiff_t at = 0; at < std::ssize(all); at += step) some.push_back(all[static_cast<std::size_t>(at)]);
    return some;
  }
  bool set(std::size_t split, std::int64_t size) {
    const auto before = sizes_;
    sizes_[split] = size;
    return keep_if_better(settle(), before);
  }
  bool shift(std::size_t split, std::ptrdiff_t step) {
    if (splits_[split].level < space_.first) return false;
    const auto all = choices(split);
    const auto at = std::ranges::find(all, sizes_[split]) - all.begin() + step;
    if (at < 0 || at >= std::ssize(all)) return false;
    sizes_[split] = all[static_cast<std::size_t>(at)];
    return settle();
  }
  bool keep_if_better(bool legal, const std::vector<std::int64_t>& before) {
    if (legal && visited_.at(sizes_).second) {
      if (const auto now = height(); now < best_) return best_ = now, true;
    }
    sizes_ = before;
    return false;
  }
  bool move(std::size_t split, std::ptrdiff_t step) {
    const auto before = sizes_;
    return keep_if_better(shift(split, step), before);
  }
  bool trade(std::size_t grows, std::size_t shrinks) {
    const auto before = sizes_;
    return keep_if_better(shift(shrinks, 1) && shift(grows, -1), before);
  }
  std::size_t labels() const {
    std::size_t all = 0;
    for (std::size_t i = 0; i < splits_.size(); ++i) all += splits_[i].level < space_.first || sizes_[i] < extent(i);
    return all;
  }
  Height height() {
    ++evaluated_;
    evaluate_compared(shape_.model, sizes_, figures_);
    scoring_.optimistic(figures_, figures_, {true, shape_.level, shape_.whole || shape_.operations}, bound_);
    const bool fits = scoring_.fits(shape_.model, bound_);
    const auto kept = kept_share(shape_, figures_, *space_.hardware);
    const auto excess =
        fits && scoring_.keeps(kept) ? 0 : scoring_.excess(shape_.model, bound_) + std::max(0.0, kept - 1) + 1e-9;
    Launched launched;
    if (scoring_.times_launches() && shape_.launches) launched = space_.launches->time(*shape_.launches, sizes_);
    return {figures_.overflow ? 1e300 : excess, scoring_.score(shape_.model, bound_, labels(), launched)};
  }

  const Space& space_;
  const Scoring& scoring_;
  const Shape& shape_;
  PieceSizes& pieces_;
  const std::vector<Split>& splits_;
  std::int64_t& evaluated_;
  std::vector<std::int64_t> sizes_;
  Height best_;
  BySizes<char> visited_;  // sizes evaluated so far, none of which is better than the best
  Figures figures_, bound_;
};

}  // namespace

std::optional<Climbed> climb(const Space& space, const Scoring& scoring, const Shape& shape, PieceSizes& pieces,
                             const Ascent& ascent, std::int64_t& evaluated) {
  return Climber(space, scoring, shape, pieces, evaluated).run(ascent);
}

}  // namespace napkin
