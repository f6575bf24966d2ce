// Which buffers hold something while each column runs: liveness, read off the order of a nest.
//
// Columns are numbered in the order of the text. A buffer lives from the first to the last step of its own block that
// uses it, and a loop uses it throughout; a tile loaded inside a loop's body lives for all of that body, together
// with the other tiles of the step.
#include <algorithm>
#include <map>
#include <set>

#include "diagram/match.hpp"
#include "napkin/loops.hpp"

namespace napkin {
namespace {

// Numbers begin .. end - 1 of columns.
struct Range {
  std::size_t begin = 0, end = 0;
};

class Liveness {
 public:
  explicit Liveness(const LoopNest& nest) : nest_(nest), live_(nest.buffers.size()) {}

  std::vector<Held> run() {
    number(nest_.body);
    visit(nest_.body, true);
    std::vector<Held> all;
    for (std::size_t i = 0; i < columns_.size(); ++i) all.push_back(held_at(i));
    return all;
  }

 private:
  void number(const Block& block) {
    for (const auto& step : block.steps)
      match(
          step.node, [&](const Load& load) { from_[load.to] = load.from; },
          [&](const Compute& compute) {
            columns_.push_back(&compute);
            blocks_.push_back(&block);
          },
          [](const Ask&) {}, [](const Save&) {}, [&](const For& loop) { number(loop.body); });
  }

  // Visits the columns of a block in order and returns which buffers they and the saves use; `next_` counts columns.
  std::set<BufferId> visit(const Block& block, bool outermost) {
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
      live_[id.index] = !outermost && tiles.contains(id) ? Range{begin, next_} : used[id];
      home_[id] = &block;
    }
    return all;
  }

  std::set<BufferId> uses(const Nest& step, std::set<BufferId>& tiles) {
    return match(
        step.node,
        [&](const Load& load) {
          tiles.insert(load.to);
          return std::set<BufferId>{};
        },
        [](const Ask&) { return std::set<BufferId>{}; },
        [&](const Compute& compute) {
          ++next_;
          return uses(compute);
        },
        [](const Save& save) {
          std::set<BufferId> both = {save.from};
          if (save.to) both.insert(*save.to);
          return both;
        },
        [&](const For& loop) { return visit(loop.body, false); });
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
      if (live_[id].begin <= column && column < live_[id].end) held.buffers.push_back({id});
    held.overwrites = overwrites(column);
    return held;
  }

  // A pointwise column may put its result where an operand of the same wires ends, if both live and die in the
  // column's own block: what outlives the block is needed again by its next round.
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
  std::vector<const Compute*> columns_;
  std::vector<const Block*> blocks_;  // of the columns
  std::map<BufferId, const Block*> home_;
  std::map<BufferId, std::optional<BufferId>> from_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<Held> held(const LoopNest& nest) { return Liveness(nest).run(); }

}  // namespace napkin
