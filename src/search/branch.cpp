// Branch and bound over partitions. A node fixes the sizes of the outer splits. Its bound comes from the figures with
// all free sizes at their largest (least moved) and at their smallest (least held). The node with the least bound is
// expanded first: by quarters of the sizes of its next split until one size is left, and then by every shape of the
// next level. When the least bound exceeds the best partitions found, nothing better is left.
//
// Above the innermost level, a node belongs to a shape that ends there. Shapes that continue it move no less at the
// levels that it splits, because loads at a level are placed by the loops down to that level. The deeper levels hold
// something, which the bound counts as nothing.
#include "search/branch.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "cost/figures/evaluate.hpp"
#include "timing/labels.hpp"

namespace napkin {
namespace {

// Returns the wires of indices other than one wire, alone or in steps: halos, strides. Their range need not shrink with
// a piece, nor its sum over the pieces grow, so that no bound holds until their pieces are chosen.
std::set<WireId> awkward_wires(const CostModel& model) {
  std::set<WireId> wires;
  for (const auto& footprint : model.footprints)
    if (!footprint.steps)
      for (const auto cut : footprint.cuts) wires.insert(model.cuts[cut].wire);
  return wires;
}

}  // namespace

Search::Search(const Space& space, const Scoring& scoring, Incumbents& incumbents, SearchStatistics& statistics,
               Budget budget)
    : space_(space),
      scoring_(scoring),
      incumbents_(incumbents),
      statistics_(statistics),
      budget_(budget),
      shapes_(space),
      descent_(space, scoring, shapes_) {}

// Of nodes with equal bounds, the younger one is more promising, because it is deeper.
bool Search::is_less_promising(const Waiting& a, const Waiting& b) const {
  if (a.parts != b.parts) return a.parts > b.parts;
  const auto &one = nodes_[a.at], &other = nodes_[b.at];
  if (const auto order = one.bound <=> other.bound; order != 0) return order > 0;
  return one.number < other.number;
}

void Search::run() {
  for (const auto root : shapes_.roots()) {
    Node node;
    node.shape = root;
    for (const auto& split : space_.fixed.splits) node.least.push_back(split.size);
    node.most = node.least;
    open_shape(node);
  }
  if (!open_.empty() && budget_.climbs != Climbs::none) start();
  while (!open_.empty()) {
    if (scoring_.stopped()) return;
    if (incumbents_.beyond(bound(open_.front()))) {
      if (incumbents_.in_order()) return;
      pop();
      continue;
    }
    if (statistics_.evaluated >= budget_.evaluated) {
      statistics_.finished = false;
      statistics_.left = bound(open_.front());
      climb_again();
      return dive();
    }
    expand(pop());
  }
}

// Finds first incumbents by a descent through the roots.
void Search::start() {
  std::vector<std::size_t> shapes;
  for (const auto& one : open_) shapes.push_back(nodes_[one.at].shape);
  std::ranges::sort(shapes);
  descend(std::move(shapes), {.shapes = 1}, {});
}

// When the budget is spent, climbs from the open shapes, which may still contain something better. Without incumbents,
// every shape is climbed; these climbs evaluate no more partitions than the search did.
void Search::climb_again() {
  if (budget_.climbs == Climbs::near) descend(open_roots(), {.shapes = 8}, {});
  if (budget_.climbs == Climbs::far)
    for (const std::int64_t first : {16, 128}) descend(open_roots(), {.shapes = 4}, {.first = first, .far = true});
  if (incumbents_.best().empty()) descend(open_roots(), {.partitions = budget_.evaluated}, {});
}

// Returns the outermost shapes of the open nodes. The other shapes contain nothing better.
std::vector<std::size_t> Search::open_roots() const {
  std::set<std::size_t> roots;
  for (const auto& one : open_) roots.insert(shapes_.at(nodes_[one.at].shape).root);
  return {roots.begin(), roots.end()};
}

void Search::descend(std::vector<std::size_t> shapes, const Width& width, const Ascent& ascent) {
  for (const auto& top : descent_.run(std::move(shapes), width, ascent)) offer(shapes_.at(top.shape), top.best.sizes);
}

// When the budget is spent, expands the deepest nodes first until there is an incumbent, for a quarter more of it.
void Search::dive() {
  auto waiting = std::exchange(open_, {});
  std::vector<Node> stack, made;
  const auto end = budget_.evaluated + budget_.evaluated / 4;
  while (incumbents_.best().empty() && statistics_.evaluated < end && !(stack.empty() && waiting.empty())) {
    if (stack.empty()) {
      open_.swap(waiting);
      stack.push_back(pop());
      open_.swap(waiting);
    }
    auto next = std::move(stack.back());
    stack.pop_back();
    expand(std::move(next));
    while (!open_.empty()) made.push_back(pop());
    std::move(made.rbegin(), made.rend(), std::back_inserter(stack));
    made.clear();
  }
}

const Search::Order& Search::order(std::size_t index) {
  if (index < orders_.size() && !orders_[index].splits.empty()) return orders_[index];
  const auto& shape = shapes_.at(index);
  const auto& splits = shape.partition.splits;
  const auto awkward = awkward_wires(shape.model);
  Order order;
  for (std::size_t i = 0; i < splits.size(); ++i) order.splits.push_back(i);
  const auto chosen = [&](std::size_t i) { return splits[i].level < shape.level || splits[i].level < space_.first; };
  const auto rank = [&](std::size_t i) { return chosen(i) ? 0 : awkward.contains(splits[i].wire) ? 1 : 2; };
  std::ranges::stable_sort(order.splits, {}, rank);
  for (std::size_t i = 0; i < order.splits.size(); ++i) {
    const auto split = order.splits[i];
    if (rank(split) == 0) order.inherited = i + 1;
    if (rank(split) == 1) order.awkward = i + 1;
    const auto core = space_.hardware->core.value_or(1);
    if (splits[split].kind == SplitKind::group && splits[split].level <= core) order.settled = i + 1;
  }
  if (shape.level < space_.hardware->core.value_or(1)) order.settled = splits.size() + 1;
  orders_.resize(std::max(orders_.size(), index + 1));
  return orders_[index] = std::move(order);
}

void Search::expand(Node node) {
  const auto& order = this->order(node.shape);
  if (node.depth < order.splits.size()) {
    choose(std::move(node), order);
  } else if (!shapes_.at(node.shape).whole) {
    continue_with(node);
  } else {
    offer(shapes_.at(node.shape), node.most);
  }
}

// Divides the sizes of the next split into quarters until one is left, or one by one as long as no bound holds.
void Search::choose(Node node, const Order& order) {
  if (node.depth >= order.awkward) tighten(node, order);
  if (node.depth >= order.awkward && !scoring_.times_launches()) raise(node, order);
  const auto split = order.splits[node.depth];
  const auto sizes = choices(node, split);
  const std::ptrdiff_t parts = node.depth < order.awkward ? std::ssize(sizes) : 4;
  auto& next = node;
  const auto depth = node.depth;
  for (auto left = std::min(parts, std::ssize(sizes)), at = std::ptrdiff_t{0}; left > 0; --left) {
    const auto taken = (std::ssize(sizes) - at) / left;
    next.most[split] = sizes[static_cast<std::size_t>(at)];
    next.least[split] = sizes[static_cast<std::size_t>(at += taken) - 1];
    next.depth = depth + (taken == 1);
    push(next, order);
  }
}

// Bisects between a good and a bad size, down to the grain of the sizes, and returns the last size before the bad one.
template <class Passes>
std::int64_t short_of(std::int64_t good, std::int64_t bad, std::int64_t grain, const Passes& passes) {
  while (std::abs(bad - good) > grain) {
    const auto middle = good + (bad - good) / 2;
    (passes(middle) ? good : bad) = middle;
  }
  return bad > good ? bad - 1 : bad + 1;
}

// Lowers the upper limits of free sizes. A size is too large if it does not fit with all others at their smallest.
void Search::tighten(Node& node, const Order& order) {
  for (auto i = node.depth; i < order.splits.size(); ++i) {
    const auto split = order.splits[i];
    auto &size = node.least[split], &most = node.most[split];
    const auto least = size;
    const auto fits = [&](std::int64_t tried) { return size = tried, holds(node); };
    if (least < most && !fits(most)) most = std::max(least, short_of(least, most, grain(node, split), fits));
    size = least;
  }
}

// Raises the lower limits of free sizes. A size is too small if even with all others at their largest no score is good
// enough. This is not used if launches are timed, because that takes long.
void Search::raise(Node& node, const Order& order) {
  for (auto i = node.depth; i < order.splits.size(); ++i) {
    const auto split = order.splits[i];
    auto &least = node.least[split], &size = node.most[split];
    const auto most = size;
    const auto good = [&](std::int64_t tried) { return size = tried, promises(node, order); };
    if (least < most && !good(least)) least = std::min(most, short_of(most, least, grain(node, split), good));
    size = most;
  }
}

std::int64_t Search::grain(const Node& node, std::size_t split) const {
  return space_.divisor(shapes_.at(node.shape).partition.splits[split]);
}

bool Search::holds(const Node& node) {
  const auto& shape = shapes_.at(node.shape);
  bound_memory(shape.model, node.least, node.most, least_, scoring_.last_held(shape.level));
  for (std::size_t level = 1; level <= shape.level; ++level)
    if (!scoring_.holds(shape.model, least_, level, false)) return false;
  return true;
}

void Search::continue_with(const Node& node) {
  for (const auto shape : shapes_.next(node.shape)) {
    auto next = node;
    next.shape = shape;
    open_shape(next);
  }
}

void Search::open_shape(Node& node) {
  const auto& order = this->order(node.shape);
  free_splits(node);
  node.depth = std::max(node.depth, order.inherited);
  push(node, order);
}

// Adds a copy of the node to the open nodes, unless its bound shows that nothing better can follow.
void Search::push(Node& node, const Order& order) {
  if (node.depth >= order.awkward) {
    if (!promises(node, order)) return;
    node.bound = score_;
  }
  node.number = number_++;
  if (vacant_.empty()) {
    vacant_.push_back(nodes_.size());
    nodes_.emplace_back();
  }
  const auto& parts = node.bound.parts;
  open_.push_back({{parts[0], parts[1], parts[2], parts[3], parts[4]}, vacant_.back()});
  nodes_[vacant_.back()] = node;
  vacant_.pop_back();
  std::ranges::push_heap(open_, std::bind_front(&Search::is_less_promising, this));
}

Search::Node Search::pop() {
  std::ranges::pop_heap(open_, std::bind_front(&Search::is_less_promising, this));
  vacant_.push_back(open_.back().at);
  open_.pop_back();
  return std::move(nodes_[vacant_.back()]);
}

// Adds the limits of the splits that are new to the node: at most the whole piece.
void Search::free_splits(Node& node) const {
  const auto& splits = shapes_.at(node.shape).partition.splits;
  for (auto i = node.least.size(); i < splits.size(); ++i) {
    auto extent = space_.derivation->scratch.size(splits[i].wire).value_or(1);
    const auto least = space_.least(splits[i]);
    node.least.push_back(extent < least ? 1 : least);
    for (std::size_t j = 0; j < i; ++j)
      if (splits[j].wire == splits[i].wire) extent = std::min(extent, node.most[j]);
    node.most.push_back(extent);
  }
}

// Returns the sizes within the node's limits, the largest first. A stream has several pieces; a group may have one.
std::span<const std::int64_t> Search::choices(const Node& node, std::size_t split) {
  const auto& splits = shapes_.at(node.shape).partition.splits;
  const auto wire = splits[split].wire;
  auto extent = space_.derivation->scratch.size(wire).value_or(1);
  for (std::size_t i = 0; i < split; ++i)
    if (splits[i].wire == wire) extent = std::min(extent, node.most[i]);
  const std::span<const std::int64_t> all = pieces_.of(extent, space_.grain(splits[split]));
  const auto largest =
      splits[split].kind == SplitKind::stream ? std::min(node.most[split], extent - 1) : node.most[split];
  const auto begin = std::ranges::lower_bound(all, largest, std::greater{});
  const auto end = std::ranges::upper_bound(all, node.least[split], std::greater{});
  return {begin, std::max(begin, end)};
}

// True if something better may follow from the node. Then `score_` is the bound of its score.
bool Search::promises(const Node& node, const Order& order) {
  const auto& shape = shapes_.at(node.shape);
  statistics_.evaluated += 1 + of_model * space_.kernels->models_since(models_);
  if (!may_run(node) || !holds_together(node)) return false;
  const auto last = shape.kept.empty() ? shape.level : all_levels;
  bound_memory(shape.model, node.least, node.most, least_, last);
  if (!scoring_.keeps(kept_share(shape, least_, *space_.hardware))) return false;
  bound_transfers(shape.model, node.most, least_, most_, shape.whole ? grains(node) : std::span<const std::int64_t>());
  scoring_.optimistic(most_, least_, {node.depth >= order.settled, shape.level, shape.whole || shape.operations},
                      bound_);
  if (!scoring_.fits(shape.model, bound_)) return false;
  // For shapes down to the core, the time of the operations is a bound that is computed faster than that of the launch.
  const bool later = scoring_.times_launches() && shape.launches && shape.level == space_.hardware->core;
  const auto sooner = later ? Launched{} : launched(node);
  score_ = scoring_.score(shape.model, bound_, labels(node), sooner);
  if (!scoring_.runs(sooner) || incumbents_.beyond(score_)) return false;
  if (!later) return true;
  const auto time = launched(node);
  score_.parts[0] = scoring_.objective(shape.model, bound_, time);
  return scoring_.runs(time) && !incumbents_.beyond(score_);
}

// Returns for each split a number of which all sizes that it may have are multiples.
std::span<const std::int64_t> Search::grains(const Node& node) {
  const auto& splits = shapes_.at(node.shape).partition.splits;
  sizes_ = node.most;
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    if (node.least[i] < node.most[i])
      sizes_[i] = node.least[i] < space_.divisor(splits[i]) ? 1 : space_.divisor(splits[i]);
  return sizes_;
}

// Counts the splits that are sure to remain in the partition.
std::size_t Search::labels(const Node& node) const {
  const auto& splits = shapes_.at(node.shape).partition.splits;
  std::size_t all = 0;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    auto extent = space_.derivation->scratch.size(splits[i].wire).value_or(1);
    for (std::size_t j = 0; j < i; ++j)
      if (splits[j].wire == splits[i].wire) extent = std::min(extent, node.least[j]);
    all += splits[i].kind == SplitKind::stream || splits[i].level < space_.first || node.most[i] < extent;
  }
  return all;
}

// Returns which of the sizes that determine the launch are chosen.
Search::Chosen Search::chosen(const Node& node) const {
  const auto& splits = shapes_.at(node.shape).partition.splits;
  auto chosen = Chosen::all;
  for (std::size_t i = 0; i < splits.size() && splits[i].level <= space_.launches->level(); ++i) {
    if (node.least[i] == node.most[i]) continue;
    if (splits[i].kind == SplitKind::group) return Chosen::some;
    chosen = Chosen::groups;
  }
  return chosen;
}

// If all sizes are chosen, this test is faster than any bound.
bool Search::may_run(const Node& node) const {
  const auto& shape = shapes_.at(node.shape);
  if (!scoring_.times_launches() || shape.launches == nullptr) return true;
  if (!space_.launches->may_run(*shape.launches)) return false;
  return chosen(node) != Chosen::all || space_.launches->may_run(*shape.launches, node.most);
}

// The launch time if all its sizes are chosen, or a bound if those of groups are. `most_` and `least_` are the node's.
Launched Search::launched(const Node& node) const {
  const auto& shape = shapes_.at(node.shape);
  if (!scoring_.times_launches() || shape.launches == nullptr) return {};
  const auto chosen = this->chosen(node);
  if (chosen == Chosen::some) return {};
  if (chosen == Chosen::all) return space_.launches->time(*shape.launches, node.most);
  constexpr double nearly = 1 - 1e-9;  // added up in another order
  const Launches::Between sizes{node.least, node.most, shape.model, most_};
  return {Launched::State::open, nearly * space_.launches->least(*shape.launches, sizes)};
}

// All groups of a parent hold no less than one undivided group: n groups of pieces p / n hold what p holds, or more.
bool Search::holds_together(const Node& node) {
  const auto& shape = shapes_.at(node.shape);
  const auto& splits = shape.partition.splits;
  for (std::size_t level = 1; level <= shape.level; ++level) {
    const auto& memory = space_.hardware->levels[level];
    if (!memory.shared || !memory.capacity || level > scoring_.last_held(level)) continue;
    sizes_ = node.least;
    for (std::size_t i = 0; i < splits.size(); ++i)
      if (splits[i].level >= level && splits[i].kind == SplitKind::group && node.least[i] < node.most[i])
        sizes_[i] = space_.derivation->scratch.size(splits[i].wire).value_or(1);
    bound_memory_at(shape.model, level, sizes_, bound_);
    if (!scoring_.holds(shape.model, bound_, level, true)) return false;
  }
  return true;
}

void Search::offer(const Shape& shape, const std::vector<std::int64_t>& sizes) {
  evaluate_compared(shape.model, sizes, bound_);
  if (!scoring_.fits(shape.model, bound_)) return;
  Launched launched;
  if (scoring_.times_launches()) launched = space_.launches->time(*shape.launches, sizes);
  if (!scoring_.runs(launched)) return;
  auto partition = shape.partition;
  for (std::size_t i = 0; i < partition.splits.size(); ++i) partition.splits[i].size = sizes[i];
  partition = without_idle_labels(space_.derivation->scratch, partition, space_.first);
  const auto score = scoring_.score(shape.model, bound_, partition.splits.size(), launched);
  if (!incumbents_.beyond(score)) incumbents_.offer({score, std::move(partition)});
}

}  // namespace napkin
