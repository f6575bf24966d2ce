// Liveness: which buffers hold something while each column runs, according to the order of a nest.
//
// Columns are numbered in the order of the text. A buffer lives from the first to the last statement of its own body
// that uses it, and a loop counts as a use throughout. A tile that is loaded inside a loop's body lives for all of that
// body, together with the other tiles of the iteration.
//
// Groups of a level wait for each other when a loop of a level above begins its next piece, or ends. Meanwhile they
// keep everything that lives across that edge.
#include <algorithm>
#include <map>
#include <set>

#include "diagram/match.hpp"
#include "loops/turns.hpp"

namespace napkin {
namespace {

// Numbers begin .. end - 1 of columns.
struct Range {
  std::size_t begin = 0, end = 0;
  bool contains(std::size_t column) const { return begin <= column && column < end; }
};

// A loop with the columns inside it and what they use.
struct Looped {
  std::size_t level;
  Range range;
  std::set<BufferId> used;
  std::set<std::size_t> around;  // loops around it
};

class Liveness {
 public:
  explicit Liveness(const LoopNest& nest) : nest_(nest), live_(nest.buffers.size()) {}

  std::vector<std::vector<Turn>> turns() {
    read();
    std::size_t deepest = 1;
    for (const auto& buffer : nest_.buffers) deepest = std::max(deepest, buffer.level);
    std::vector<std::vector<Turn>> all(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i)
      for (std::size_t level = 2; level <= deepest; ++level) all[i].push_back(turn(i, level));
    return all;
  }
  std::vector<Held> run() {
    read();
    std::vector<Held> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) all.push_back(held_at(i));
    return all;
  }

 private:
  void read() {
    number(nest_.body);
    visit(nest_.body, true);
  }
  void number(const LoopBody& block) {
    for (const auto& step : block.steps)
      match(
          step.node, [&](const Load& load) { from_[load.to] = load.from; },
          [&](const Compute& compute) {
            columns_.push_back(&compute);
            blocks_.push_back(&block);
          },
          [](const MaskTest&) {}, [](const Save&) {}, [&](const For& loop) { number(loop.body); });
  }

  // Visits the columns of a block in order and returns which buffers they and the saves use; `next_` counts columns.
  std::set<BufferId> visit(const LoopBody& block, bool outermost) {
    const auto begin = next_;
    std::set<BufferId> all, tiles;
    std::map<BufferId, Range> used;
    for (const auto& step : block.steps) {
      const auto first = next_;
      const auto touched = uses(step, tiles);
      // A save belongs to the column before it.
      const bool moves = std::holds_alternative<Save>(step.node);
      for (const auto id : touched) {
        auto& range = used.try_emplace(id, Range{moves ? first - 1 : first, next_}).first->second;
        range.end = std::max(range.end, next_);
      }
      all.insert(touched.begin(), touched.end());
    }
    for (const auto id : block.buffers) {
      if (!outermost && tiles.contains(id)) throughout_.insert(id);
      live_[id.index] = throughout_.contains(id) ? Range{begin, next_} : used[id];
      home_[id] = &block;
      around_[id] = open_;
    }
    return all;
  }
  std::set<BufferId> visit(const For& loop) {
    const auto number = loops_.size();
    loops_.push_back({loop.split.level, {next_, next_}, {}, open_});
    open_.insert(number);
    auto used = visit(loop.body, false);
    open_.erase(number);
    loops_[number].range.end = next_;
    return loops_[number].used = std::move(used);
  }

  std::set<BufferId> uses(const LoopStatement& step, std::set<BufferId>& tiles) {
    return match(
        step.node,
        [&](const Load& load) {
          tiles.insert(load.to);
          return std::set<BufferId>{};
        },
        [](const MaskTest&) { return std::set<BufferId>{}; },
        [&](const Compute& compute) {
          ++next_;
          return uses(compute);
        },
        [](const Save& save) {
          std::set<BufferId> both = {save.from};
          if (save.to) both.insert(*save.to);
          return both;
        },
        [&](const For& loop) { return visit(loop); });
  }

  // A column uses the tiles it reads, at every level that they came through.
  std::set<BufferId> uses(const Compute& compute) const {
    std::set<BufferId> used = {compute.to};
    if (compute.carried) used.insert(*compute.carried);
    for (const auto& [access, read] : compute.reads)
      for (std::optional<BufferId> id = read; id; id = above(*id)) used.insert(*id);
    return used;
  }
  std::optional<BufferId> above(BufferId id) const {
    const auto found = from_.find(id);
    return found == from_.end() ? std::nullopt : found->second;
  }

  Held held_at(std::size_t column) const {
    Held held{columns_[column], {}, {}};
    for (std::uint32_t id = 0; id < live_.size(); ++id)
      if (live_[id].contains(column)) held.buffers.push_back({id});
    held.overwrites = overwrites(column);
    return held;
  }

  // Returns the turn of a column: from the last edge of a loop above the level to the next one.
  Turn turn(std::size_t column, std::size_t level) const {
    const Looped *around = nullptr, *last = nullptr, *next = nullptr;
    for (const auto& loop : loops_) {
      if (loop.level >= level || loop.range.begin == loop.range.end) continue;
      if (loop.range.contains(column)) around = &loop, last = next = nullptr;
      if (loop.range.end <= column && (!last || last->range.end < loop.range.end)) last = &loop;
      if (column < loop.range.begin && !next) next = &loop;
    }
    if (around && next && next->range.begin >= around->range.end) next = nullptr;
    Turn made{level, last ? last->range.end : around ? around->range.begin : 0, {}, {}};
    made.before = last ? across(last->range.end) : around ? kept(*around) : std::vector<BufferId>();
    made.after = next ? across(next->range.begin) : around ? kept(*around) : std::vector<BufferId>();
    return made;
  }
  // Returns the buffers that live before and after the beginning of a column.
  std::vector<BufferId> across(std::size_t column) const {
    std::vector<BufferId> all;
    for (std::uint32_t id = 0; id < live_.size(); ++id)
      if (live_[id].begin < column && column < live_[id].end) all.push_back({id});
    return all;
  }
  // Returns the buffers that live on from piece to piece of a loop.
  std::vector<BufferId> kept(const Looped& loop) const {
    const auto number = static_cast<std::size_t>(&loop - loops_.data());
    std::vector<BufferId> all;
    for (std::uint32_t id = 0; id < live_.size(); ++id)
      if ((passes({id}, loop) || loop.used.contains({id})) && !around_.at({id}).contains(number)) all.push_back({id});
    return all;
  }
  // True if the buffer lives before and after a loop, or in all of a body around it, which may begin or end with the
  // loop.
  bool passes(BufferId id, const Looped& loop) const {
    const auto& live = live_[id.index];
    if (live.begin < loop.range.begin && loop.range.end < live.end) return true;
    if (throughout_.contains(id)) return live.begin <= loop.range.begin && loop.range.end <= live.end;
    return std::ranges::any_of(loop.around, [&](std::size_t outer) {
      return loops_[outer].used.contains(id) && !around_.at(id).contains(outer);
    });
  }

  // A pointwise column may overwrite an operand with the same wires that ends there, if both live and end in the
  // column's own body: a buffer that outlives the body is needed again by the next iteration.
  std::optional<std::pair<BufferId, BufferId>> overwrites(std::size_t column) const {
    const auto& compute = *columns_[column];
    const auto& result = nest_.at(compute.to);
    const auto at_home = [&](BufferId id) { return home_.at(id) == blocks_[column]; };
    if (compute.column.fold || !at_home(compute.to) || live_[compute.to.index].begin != column) return {};
    std::optional<BufferId> best;
    for (const auto& [access, id] : compute.reads) {
      const auto& operand = nest_.at(id);
      if (operand.at != result.at || !at_home(id) || live_[id.index].end != column + 1) continue;
      if (!best || row(nest_.at(*best).type).bytes < row(operand.type).bytes) best = id;
    }
    if (!best) return {};
    return std::pair{compute.to, *best};
  }

  const LoopNest& nest_;
  std::vector<Range> live_;
  std::set<BufferId> throughout_;  // tiles of bodies of loops
  std::vector<const Compute*> columns_;
  std::vector<const LoopBody*> blocks_;  // of the columns
  std::map<BufferId, const LoopBody*> home_;
  std::vector<Looped> loops_;                         // in the order of the text
  std::set<std::size_t> open_;                        // of them, those around what is visited
  std::map<BufferId, std::set<std::size_t>> around_;  // and around the block of a buffer
  std::map<BufferId, std::optional<BufferId>> from_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<Held> held(const LoopNest& nest) { return Liveness(nest).run(); }
std::vector<std::vector<Turn>> turns(const LoopNest& nest) { return Liveness(nest).turns(); }

}  // namespace napkin
