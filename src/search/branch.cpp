// Sizes are chosen split by split, largest first. Before going deeper, the figures with all free sizes at their largest
// (least moved) and at their smallest (least held) bound what can still come.
#include "search/branch.hpp"

#include <algorithm>
#include <set>

namespace napkin {
namespace {

// Wires in an index that is not one wire alone: halos, strides, blocks. What such an index reaches need not shrink with
// a piece, nor its sum over the pieces grow, so that no bound holds until their pieces are chosen.
std::set<WireId> awkward_wires(const CostModel& model) {
  std::set<WireId> wires;
  for (const auto& footprint : model.footprints())
    for (const auto cut : footprint.cuts) wires.insert(model.cuts()[cut].wire);
  return wires;
}

}  // namespace

Branch::Branch(const Space& space, const Kernel& shape, const CostModel& model, const Scoring& scoring,
               Leaders& leaders, Tally& tally)
    : space_(space), shape_(shape.partition), model_(model), scoring_(scoring), leaders_(leaders), tally_(tally) {
  const auto& diagram = space.derivation->scratch;
  const auto awkward = awkward_wires(model);
  for (std::size_t i = 0; i < shape_.splits.size(); ++i) {
    const auto& split = shape_.splits[i];
    sizes_.push_back(split.size);
    if (split.level < space.first) continue;
    const auto extent = diagram.size(split.wire).value_or(1);
    const auto divisor = space.divisors[split.wire.index];
    free_.push_back({i, divisor, extent < divisor ? 1 : divisor, extent});
  }
  const auto is_awkward = [&](const Free& one) { return awkward.contains(shape_.splits[one.split].wire); };
  awkward_ = static_cast<std::size_t>(std::ranges::count_if(free_, is_awkward));
  std::ranges::stable_sort(free_, [&](const Free& a, const Free& b) { return is_awkward(a) && !is_awkward(b); });
  const auto core = space.hardware->core.value_or(1);
  for (std::size_t i = 0; i < free_.size(); ++i) {
    const auto& split = shape_.splits[free_[i].split];
    if (split.kind == SplitKind::group && split.level <= core) settled_ = i + 1;
  }
  large_ = small_ = sizes_;
  for (const auto& one : free_) large_[one.split] = one.most, small_[one.split] = one.least;
}

void Branch::run() {
  if (hopeless(0)) return;
  if (awkward_ == 0)
    for (std::size_t i = 0; i < free_.size(); ++i) narrow(i);
  descend(0);
}

void Branch::run_all() {
  bounded_ = false;
  descend(0);
}

void Branch::descend(std::size_t depth) {
  if (depth == free_.size()) return offer();
  auto& one = free_[depth];
  const auto before = one.most;
  if (bounded_ && depth >= awkward_) narrow(depth);
  for (const auto size : choices(one)) {
    if (bounded_ && --tally_.budget < 0) break;
    choose(depth, size);
    if (!bounded_ || !hopeless(depth + 1)) descend(depth + 1);
  }
  one.most = before;
  large_[one.split] = one.most, small_[one.split] = one.least;
}

void Branch::choose(std::size_t depth, std::int64_t size) {
  const auto split = free_[depth].split;
  sizes_[split] = large_[split] = small_[split] = size;
}

// Largest first. A stream is cut into more than one piece; a group may leave its wire whole.
std::vector<std::int64_t> Branch::choices(const Free& one) const {
  const auto extent = extent_before(space_.derivation->scratch, shape_.splits, sizes_, one.split);
  auto sizes = piece_sizes(extent, one.divisor);
  if (shape_.splits[one.split].kind == SplitKind::stream) std::erase(sizes, extent);
  std::erase_if(sizes, [&](std::int64_t size) { return size > one.most; });
  return sizes;
}

Figures Branch::bound(std::size_t depth) {
  model_.figures(large_, most_);
  model_.figures(small_, least_);
  return scoring_.optimistic(most_, least_, depth >= settled_);
}

bool Branch::hopeless(std::size_t depth) {
  if (depth < awkward_) return false;
  const auto figures = bound(depth);
  return !scoring_.fits(model_, figures) || leaders_.beyond(scoring_.score(model_, figures, 0));
}

bool Branch::fits_at(std::size_t depth, std::int64_t size) {
  const auto split = free_[depth].split;
  small_[split] = size;
  const bool fits = scoring_.fits(model_, bound(0));
  small_[split] = free_[depth].least;
  return fits;
}

// The largest size that fits while everything free is at its smallest.
void Branch::narrow(std::size_t depth) {
  auto& one = free_[depth];
  auto low = one.least, high = one.most;
  if (!fits_at(depth, high)) {
    while (high - low > 1) {
      const auto middle = low + (high - low) / 2;
      (fits_at(depth, middle) ? low : high) = middle;
    }
    one.most = low;
  }
  large_[one.split] = one.most;
}

std::size_t Branch::labels() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    count += sizes_[i] < extent_before(space_.derivation->scratch, shape_.splits, sizes_, i);
  return count;
}

void Branch::offer() {
  ++tally_.evaluated;
  model_.figures(sizes_, exact_);
  if (!scoring_.fits(model_, exact_)) return;
  const auto score = scoring_.score(model_, exact_, labels());
  if (leaders_.beyond(score)) return;
  auto partition = shape_;
  for (std::size_t i = 0; i < sizes_.size(); ++i) partition.splits[i].size = sizes_[i];
  leaders_.offer({score, without_idle_labels(space_.derivation->scratch, partition, space_.first)});
}

}  // namespace napkin
