// Computes what memories hold at their fullest instant: of one group, and of all groups that share a memory.
#include <algorithm>
#include <limits>

#include "cost/model.hpp"
#include "cost/reach.hpp"
#include "diagram/checked.hpp"

namespace napkin {

void CostModel::memory(Figures& figures, bool everything, std::size_t first, std::size_t last) const {
  figures.holdings.resize(holdings_.size());
  for (auto level = first; level <= last && level < ideal_.size(); ++level) memory(figures, everything, level);
}

// Values are weighted with their bytes, or with 1.
void CostModel::memory(Figures& figures, bool everything, std::size_t level) const {
  for (const auto i : held_[level]) figures.holdings[i] = product(holdings_[i].values, figures, figures.overflow);
  instances(level, figures);
  auto& at = figures.levels[level];
  const bool in_values = hardware_->levels[level].in_values;
  if (everything || !in_values) {
    const auto held = this->held(level, figures, [&](std::size_t i) { return holdings_[i].bytes; });
    at.memory_bytes = held.largest, at.ideal_memory_bytes = held.ideal;
    at.fullest_bytes = held.fullest, at.ideal_fullest_bytes = held.ideal_fullest;
  }
  if (everything || in_values) {
    const auto held = this->held(level, figures, [](std::size_t) { return 1; });
    at.memory_values = held.largest, at.ideal_memory_values = held.ideal;
    at.fullest_values = held.fullest, at.ideal_fullest_values = held.ideal_fullest;
  }
}

template <class Weight>
CostModel::Held CostModel::held(std::size_t level, Figures& figures, const Weight& weight) const {
  Held made{.largest = largest(level, figures, weight), .ideal = total(ideal_[level], figures, weight)};
  if (instants_[level].empty()) {
    made.fullest = saturating_multiply(figures.instances[0], made.largest);
    made.ideal_fullest = saturating_multiply(figures.instances[0], made.ideal);
  } else {
    made.fullest = fullest(level, {}, figures, weight);
    made.ideal_fullest = fullest(level, made.ideal, figures, weight);
  }
  return made;
}

template <class Weight>
std::int64_t CostModel::total(const std::vector<std::size_t>& held, Figures& figures, const Weight& weight) const {
  Checked sum{0};
  for (const auto i : held) {
    Checked more{figures.holdings[i]};
    more.times(weight(i));
    sum.plus(more.value);
    sum.overflow = sum.overflow || more.overflow;
  }
  figures.overflow = figures.overflow || sum.overflow;
  return sum.value;
}

template <class Weight>
std::int64_t CostModel::of_column(const Column& column, const std::vector<std::size_t>& held, Figures& figures,
                                  const Weight& weight) const {
  Checked sum{total(held, figures, weight)};
  for (const auto& [a, b] : column.shared)
    sum.plus(-std::min(figures.holdings[a] * weight(a), figures.holdings[b] * weight(b)));
  return sum.value;
}

template <class Weight>
std::int64_t CostModel::largest(std::size_t level, Figures& figures, const Weight& weight) const {
  const auto common = total(common_[level], figures, weight);
  std::int64_t most = 0;
  for (const auto& column : columns_) {
    if (column.level != level) continue;
    Checked sum{of_column(column, column.own, figures, weight)};
    sum.plus(common);
    figures.overflow = figures.overflow || sum.overflow;
    most = std::max(most, sum.value);
  }
  return most;
}

// Returns how many of a parent's groups one of its children processes: one after another, or at the same time in a
// memory that all children share.
std::int64_t CostModel::turns_of(std::size_t level, const Figures& figures) const {
  const auto children = hardware_->levels[level].count;
  return (figures.levels[level].groups_per_parent + children - 1) / children;
}

// Returns the first level below whose groups take turns; 0 if there is none.
std::size_t CostModel::turns_below(std::size_t level, const Figures& figures) const {
  for (auto below = level + 1; below < hardware_->levels.size(); ++below)
    if (!hardware_->levels[below].shared && turns_of(below, figures) > 1) return below;
  return 0;
}

// Computes how many groups are active in one memory, and how many wait at each level. The counts are built from the
// innermost level outwards: parallel groups multiply the counts of one group; if groups run one after another,
// one is active and the others wait.
void CostModel::instances(std::size_t level, Figures& figures) const {
  auto& all = figures.instances;
  all.assign(level + 1, 0);
  all[0] = 1;
  Checked below{1};
  for (auto outer = level; outer > 0; --outer) {
    const bool shared = hardware_->levels[outer].shared;
    const auto here = shared && outer == level ? figures.levels[outer].groups_per_parent : turns_of(outer, figures);
    if (shared)
      for (auto& count : all) count = saturating_multiply(count, here);
    else
      all[outer] = saturating_multiply(here - 1, below.value);
    below.times(here);
    if (below.overflow) below = Checked{INT64_MAX};
  }
}

// Returns the fullest instant if groups may wait. If `at_work` is given, it replaces what the columns hold.
template <class Weight>
std::int64_t CostModel::fullest(std::size_t level, std::optional<std::int64_t> at_work, Figures& figures,
                                const Weight& weight) const {
  const auto below = turns_below(level, figures);
  std::int64_t most = 0;
  for (const auto& instant : instants_[level]) {
    if (instant.turns != below) continue;
    const auto here = at_work ? *at_work : of_column(instant.at_work, instant.at_work.held, figures, weight);
    most = std::max(most, of_all(instant, here, figures, weight));
  }
  return most;
}

template <class Weight>
std::int64_t CostModel::of_all(const Instant& instant, std::int64_t at_work, Figures& figures,
                               const Weight& weight) const {
  Checked all{saturating_multiply(figures.instances[0], at_work)};
  for (const auto& waiting : instant.waiting) {
    if (figures.instances[waiting.level] == 0) continue;
    const auto kept = std::max(total(waiting.before, figures, weight), total(waiting.after, figures, weight));
    all.plus(saturating_multiply(figures.instances[waiting.level], kept));
  }
  return all.overflow ? INT64_MAX : all.value;
}

double CostModel::room_of_all(std::size_t level) const {
  const auto& memory = hardware_->levels[level];
  if (!memory.shared) return own_rooms_[level];
  return memory.capacity ? memory.capacity->value : std::numeric_limits<double>::infinity();
}

}  // namespace napkin
