// Compares the columns and instants of each level by what they hold.
#include "cost/figures/memory.hpp"

#include <algorithm>

#include "cost/figures/products.hpp"
#include "cost/model/checked.hpp"
#include "diagram/checked.hpp"

namespace napkin {
namespace {

using Holdings = std::vector<std::size_t>;

// Returns how many of a parent's groups one of its children processes: one after another, or at the same time in a
// memory that all children share.
std::int64_t turns_of(const CostModel& model, std::size_t level, const Figures& figures) {
  const auto children = model.hardware->levels[level].count;
  return (figures.levels[level].groups_per_parent + children - 1) / children;
}

// Adds up what one level holds. Values are weighted with their bytes, or with 1.
template <class Weight>
class HeldAt {
 public:
  HeldAt(const CostModel& model, std::size_t level, Figures& figures, const Weight& weight)
      : model_(model), level_(level), figures_(figures), weight_(weight) {}

  std::int64_t ideal() const { return total(model_.ideal[level_]); }

  std::int64_t largest() const {
    const auto common = total(model_.common[level_]);
    std::int64_t most = 0;
    for (const auto& column : model_.columns) {
      if (column.level != level_) continue;
      Checked sum{of_column(column, column.own)};
      sum.plus(common);
      figures_.overflow = figures_.overflow || sum.overflow;
      most = std::max(most, sum.value);
    }
    return most;
  }

  // The fullest instant if groups may wait. If `at_work` is given, it replaces what the columns hold.
  std::int64_t fullest(std::optional<std::int64_t> at_work) const {
    const auto below = turns_below(model_, level_, figures_);
    std::int64_t most = 0;
    for (const auto& instant : model_.instants[level_]) {
      if (instant.turns != below) continue;
      const auto here = at_work ? *at_work : of_column(instant.at_work, instant.at_work.held);
      most = std::max(most, of_all(instant, here));
    }
    return most;
  }

 private:
  std::int64_t total(const Holdings& held) const {
    Checked sum{0};
    for (const auto i : held) {
      Checked more{figures_.holdings[i]};
      more.times(weight_(i));
      sum.plus(more.value);
      sum.overflow = sum.overflow || more.overflow;
    }
    figures_.overflow = figures_.overflow || sum.overflow;
    return sum.value;
  }
  std::int64_t of_column(const CostModel::Column& column, const Holdings& held) const {
    Checked sum{total(held)};
    for (const auto& [a, b] : column.shared)
      sum.plus(-std::min(figures_.holdings[a] * weight_(a), figures_.holdings[b] * weight_(b)));
    return sum.value;
  }
  std::int64_t of_all(const CostModel::Instant& instant, std::int64_t at_work) const {
    Checked all{saturating_multiply(figures_.instances[0], at_work)};
    for (const auto& waiting : instant.waiting) {
      if (figures_.instances[waiting.level] == 0) continue;
      const auto kept = std::max(total(waiting.before), total(waiting.after));
      all.plus(saturating_multiply(figures_.instances[waiting.level], kept));
    }
    return all.overflow ? INT64_MAX : all.value;
  }

  const CostModel& model_;
  std::size_t level_;
  Figures& figures_;
  const Weight& weight_;
};

struct MostHeld {
  std::int64_t largest = 0, ideal = 0, fullest = 0, ideal_fullest = 0;
};

template <class Weight>
MostHeld most_held(const CostModel& model, std::size_t level, Figures& figures, const Weight& weight) {
  const HeldAt held(model, level, figures, weight);
  MostHeld made{.largest = held.largest(), .ideal = held.ideal()};
  if (model.instants[level].empty()) {
    made.fullest = saturating_multiply(figures.instances[0], made.largest);
    made.ideal_fullest = saturating_multiply(figures.instances[0], made.ideal);
  } else {
    made.fullest = held.fullest({});
    made.ideal_fullest = held.fullest(made.ideal);
  }
  return made;
}

void find_memory_at(const CostModel& model, Counted counted, std::size_t level, Figures& figures) {
  for (const auto i : model.held[level])
    figures.holdings[i] = value_of(model.holdings[i].values, figures, figures.overflow);
  find_instances(model, level, figures);
  auto& at = figures.levels[level];
  const bool in_values = model.hardware->levels[level].in_values;
  if (counted == Counted::everything || !in_values) {
    const auto held = most_held(model, level, figures, [&](std::size_t i) { return model.holdings[i].bytes; });
    at.memory_bytes = held.largest, at.ideal_memory_bytes = held.ideal;
    at.fullest_bytes = held.fullest, at.ideal_fullest_bytes = held.ideal_fullest;
  }
  if (counted == Counted::everything || in_values) {
    const auto held = most_held(model, level, figures, [](std::size_t) { return 1; });
    at.memory_values = held.largest, at.ideal_memory_values = held.ideal;
    at.fullest_values = held.fullest, at.ideal_fullest_values = held.ideal_fullest;
  }
}

}  // namespace

void find_memory(const CostModel& model, Counted counted, LevelRange levels, Figures& figures) {
  figures.holdings.resize(model.holdings.size());
  for (auto level = levels.first; level <= levels.last && level < model.ideal.size(); ++level)
    find_memory_at(model, counted, level, figures);
}

// The counts are built from the innermost level outwards: parallel groups multiply the counts of one group; if groups
// run one after another, one is active and the others wait.
void find_instances(const CostModel& model, std::size_t level, Figures& figures) {
  auto& all = figures.instances;
  all.assign(level + 1, 0);
  all[0] = 1;
  Checked below{1};
  for (auto outer = level; outer > 0; --outer) {
    const bool shared = model.hardware->levels[outer].shared;
    const auto here =
        shared && outer == level ? figures.levels[outer].groups_per_parent : turns_of(model, outer, figures);
    if (shared)
      for (auto& count : all) count = saturating_multiply(count, here);
    else
      all[outer] = saturating_multiply(here - 1, below.value);
    below.times(here);
    if (below.overflow) below = Checked{INT64_MAX};
  }
}

std::size_t turns_below(const CostModel& model, std::size_t level, const Figures& figures) {
  for (auto below = level + 1; below < model.hardware->levels.size(); ++below)
    if (!model.hardware->levels[below].shared && turns_of(model, below, figures) > 1) return below;
  return 0;
}

}  // namespace napkin
