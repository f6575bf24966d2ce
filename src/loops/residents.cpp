// Finds how much each memory holds at its fullest instant. The groups of every level are walked one after another. Each
// piece of a buffer is recorded with the first and the last instant at which its group needs it. Afterwards, all pieces
// that are alive at an instant are added up for each memory.
//
// This code uses neither the cost model nor the liveness on which the model is based, so that the two check each other.
#include "loops/residents.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "diagram/match.hpp"
#include "loops/pieces.hpp"

namespace napkin {
namespace {

using Instant = std::int64_t;

// What one column needs while it runs, according to the text of the nest alone.
struct Needs {
  const LoopBody* block = nullptr;
  std::set<BufferId> buffers;
};

class Reading {
 public:
  explicit Reading(const LoopNest& nest) {
    find_sources(nest.body);
    read(nest.body);
  }
  const Needs& of(const Compute& compute) const { return needs_.at(&compute); }
  const LoopBody* home(BufferId id) const { return home_.at(id); }

 private:
  struct Loop {
    const For* loop;
    std::set<BufferId> inside, used, tiles;  // buffers of its body and deeper; what is used there; tiles of its body
    std::vector<const Compute*> columns;
  };

  void find_sources(const LoopBody& block) {
    for (const auto id : block.buffers) home_[id] = &block;
    for (const auto& step : block.steps) {
      if (const auto* load = std::get_if<Load>(&step.node)) source_[load->to] = load->from;
      if (const auto* loop = std::get_if<For>(&step.node)) find_sources(loop->body);
    }
  }
  void read(const LoopBody& block) {
    for (auto& loop : open_) loop.inside.insert(block.buffers.begin(), block.buffers.end());
    for (const auto& step : block.steps)
      match(
          step.node, [](const MaskTest&) {},
          [&](const Load& load) {
            if (!open_.empty() && home_.at(load.to) == &block) open_.back().tiles.insert(load.to);
          },
          [&](const Save& save) {
            use(save.from);
            if (save.to) use(*save.to);
          },
          [&](const Compute& compute) { column(compute, block); }, [&](const For& loop) { body(loop); });
  }
  void column(const Compute& compute, const LoopBody& block) {
    auto& needs = needs_[&compute];
    needs.block = &block;
    const auto need = [&](BufferId id) { needs.buffers.insert(id), use(id); };
    need(compute.to);
    if (compute.carried) need(*compute.carried);
    for (const auto& [access, read] : compute.reads)
      for (std::optional<BufferId> id = read; id; id = source(*id)) need(*id);
    for (auto& loop : open_) loop.columns.push_back(&compute);
  }
  // A loop needs outside buffers that it uses for as long as it runs, and all tiles of its body throughout the body.
  void body(const For& loop) {
    open_.push_back({&loop, {}, {}, {}, {}});
    read(loop.body);
    const auto done = std::move(open_.back());
    open_.pop_back();
    for (const auto* compute : done.columns) {
      auto& needed = needs_.at(compute).buffers;
      needed.insert(done.tiles.begin(), done.tiles.end());
      for (const auto id : done.used)
        if (!done.inside.contains(id)) needed.insert(id);
    }
  }
  void use(BufferId id) {
    for (auto& loop : open_) loop.used.insert(id);
  }
  std::optional<BufferId> source(BufferId id) const {
    const auto found = source_.find(id);
    return found == source_.end() ? std::nullopt : found->second;
  }

  std::map<BufferId, std::optional<BufferId>> source_;
  std::map<BufferId, const LoopBody*> home_;
  std::map<const Compute*, Needs> needs_;
  std::vector<Loop> open_;
};

// A group of the innermost level, with its number among its siblings at every level.
struct Group {
  std::vector<std::int64_t> number;
  std::vector<Intervals> pieces;  // by level
  std::map<BufferId, std::size_t> piece_of;
  Instant last = 0;
};
using Groups = std::vector<Group*>;

// One piece of a buffer, and when its group needs it.
struct Life {
  BufferId buffer;
  std::vector<std::int64_t> memory;  // its level, and the children on the way to it
  Instant first = -1, last = -1;
};

class Walk {
 public:
  Walk(const LoopNest& nest, const Hardware& hardware)
      : nest_(nest),
        hardware_(hardware),
        levels_(hardware.levels.size()),
        reading_(nest),
        sizes_(nest.buffers.size()) {}

  std::vector<Fullest> run() {
    auto groups = all_groups();
    Groups all;
    siblings_.assign(levels_, 1);
    for (auto& group : groups) {
      all.push_back(&group);
      for (std::size_t level = 1; level < levels_; ++level)
        siblings_[level] = std::max(siblings_[level], group.number[level] + 1);
    }
    run(nest_.body, all, 1);
    return most();
  }

 private:
  // Groups

  std::vector<Group> all_groups() const {
    Group everything{std::vector<std::int64_t>(levels_), std::vector<Intervals>(levels_), {}, 0};
    for (auto& pieces : everything.pieces)
      for (std::uint32_t w = 0; w < nest_.scratch.wires.size(); ++w)
        pieces.push_back({0, nest_.scratch.size(WireId{w}).value_or(0)});
    std::vector<Group> groups = {everything};
    for (std::size_t level = 1; level < levels_; ++level) groups = divided(groups, level);
    return groups;
  }
  std::vector<Group> divided(const std::vector<Group>& parents, std::size_t level) const {
    std::vector<Group> all;
    for (const auto& parent : parents) {
      std::vector<Group> siblings = {parent};
      for (const auto& split : nest_.groups)
        if (split.level == level) siblings = split_by(siblings, split);
      for (std::size_t i = 0; i < siblings.size(); ++i) siblings[i].number[level] = static_cast<std::int64_t>(i);
      all.insert(all.end(), siblings.begin(), siblings.end());
    }
    return all;
  }
  std::vector<Group> split_by(const std::vector<Group>& groups, const Split& split) const {
    std::vector<Group> finer;
    for (const auto& group : groups)
      for (std::int64_t n = 0; has_piece(group, split, n); ++n) {
        finer.push_back(group);
        enter(finer.back(), split, n);
      }
    return finer;
  }
  static bool has_piece(const Group& group, const Split& split, std::int64_t n) {
    const auto& around = group.pieces[split.level][split.wire.index];
    return around.begin + n * split.size < around.end;
  }
  void enter(Group& group, const Split& split, std::int64_t n) const {
    const auto around = group.pieces[split.level][split.wire.index];
    const auto begin = around.begin + n * split.size;
    for (auto level = split.level; level < levels_; ++level)
      group.pieces[level][split.wire.index] = {begin, std::min(begin + split.size, around.end)};
  }
  // A memory of a level: that of one child, or the one that all children of a parent share.
  std::vector<std::int64_t> memory(const Group& group, std::size_t level) const {
    std::vector<std::int64_t> path = {static_cast<std::int64_t>(level)};
    for (std::size_t i = 1; i <= level; ++i)
      if (i < level || !hardware_.levels[i].shared) path.push_back(group.number[i] % hardware_.levels[i].count);
    return path;
  }

  // Turns: groups of levels above `level` run together; those of `level` and below run in turns.

  void run(const LoopBody& block, const Groups& groups, std::size_t level) {
    for (const auto id : block.buffers) begin(id, groups);
    run(std::span(block.steps), groups, level);
  }
  void run(std::span<const LoopStatement> steps, const Groups& groups, std::size_t level) {
    const auto together = [&](const LoopStatement& step) {
      const auto* loop = std::get_if<For>(&step.node);
      return loop != nullptr && loop->split.level < level;
    };
    for (std::size_t at = 0; at < steps.size();) {
      if (together(steps[at])) {
        run(std::get<For>(steps[at++].node), groups, level);
        continue;
      }
      auto end = at;
      while (end < steps.size() && !together(steps[end])) ++end;
      take_turns(steps.subspan(at, end - at), groups, level);
      at = end;
    }
  }
  void take_turns(std::span<const LoopStatement> steps, const Groups& groups, std::size_t level) {
    if (level == levels_) return work(steps, groups);
    std::map<std::int64_t, Groups> turns;
    const auto& memory = hardware_.levels[level];
    for (auto* group : groups) turns[memory.shared ? 0 : group->number[level] / memory.count].push_back(group);
    for (const auto& [turn, at_once] : turns) run(steps, at_once, level + 1);
  }
  void run(const For& loop, const Groups& groups, std::size_t level) {
    std::vector<std::vector<Intervals>> around;
    for (const auto* group : groups) around.push_back(group->pieces);
    for (std::int64_t n = 0;; ++n) {
      Groups busy;
      for (std::size_t i = 0; i < groups.size(); ++i) {
        groups[i]->pieces = around[i];
        if (!has_piece(*groups[i], loop.split, n)) continue;
        enter(*groups[i], loop.split, n);
        busy.push_back(groups[i]);
      }
      if (busy.empty()) return;
      run(loop.body, busy, level);
    }
  }

  // Instants: a column takes one instant for all groups that run side by side, and so do loads that no column follows.
  // A save belongs to the column before it.

  void work(std::span<const LoopStatement> steps, const Groups& groups) {
    if (std::ranges::none_of(steps,
                             [](const LoopStatement& step) { return std::holds_alternative<Compute>(step.node); }))
      load(steps, groups);
    for (const auto& step : steps) {
      if (const auto* compute = std::get_if<Compute>(&step.node)) {
        ++now_;
        for (auto* group : groups) run(*compute, *group);
      } else if (const auto* save = std::get_if<Save>(&step.node)) {
        for (auto* group : groups) {
          need(save->from, *group);
          if (save->to) need(*save->to, *group);
        }
      }
    }
  }
  void load(std::span<const LoopStatement> steps, const Groups& groups) {
    ++now_;
    for (const auto& step : steps)
      if (const auto* load = std::get_if<Load>(&step.node))
        for (auto* group : groups) need(load->to, *group, now_);
  }
  void run(const Compute& compute, Group& group) {
    group.last = now_;
    for (const auto id : reading_.of(compute).buffers) need(id, group);
    if (!compute.column.fold) note_overwriting(compute, group);
  }
  void need(BufferId id, const Group& group) { need(id, group, group.last); }
  void need(BufferId id, const Group& group, Instant at) {
    auto& piece = pieces_[group.piece_of.at(id)];
    piece.first = piece.first < 0 ? at : std::min(piece.first, at);
    piece.last = std::max(piece.last, at);
  }
  // Begins the life of a buffer: each group at its level has one piece, which all groups below share.
  void begin(BufferId id, const Groups& groups) {
    const auto level = nest_.at(id).level;
    std::map<std::vector<std::int64_t>, std::size_t> made;
    for (auto* group : groups) {
      const std::vector<std::int64_t> path(group->number.begin(),
                                           group->number.begin() + static_cast<std::ptrdiff_t>(level) + 1);
      const auto [at, fresh] = made.try_emplace(path, pieces_.size());
      if (fresh) pieces_.push_back({id, memory(*group, level), -1, -1});
      group->piece_of[id] = at->second;
      sizes_[id.index] = std::max(sizes_[id.index], size(nest_.at(id), *group));
    }
  }
  std::int64_t size(const Buffer& buffer, const Group& group) const {
    std::int64_t all = 1;
    const auto& wires = nest_.scratch.at(buffer.array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i)
      all *= footprint(buffer.at[i], group.pieces[buffer.level], nest_.scratch.size(wires[i]).value_or(0)).length();
    return all;
  }

  // A pointwise result may replace an operand at the same positions that is not needed afterwards.
  struct Overwriting {
    Instant at;
    std::size_t result;
    std::vector<std::size_t> operands;
  };
  void note_overwriting(const Compute& compute, const Group& group) {
    const auto* here = reading_.of(compute).block;
    Overwriting made{now_, group.piece_of.at(compute.to), {}};
    if (reading_.home(compute.to) != here) return;
    for (const auto& [access, id] : compute.reads)
      if (reading_.home(id) == here && nest_.at(id).at == nest_.at(compute.to).at)
        made.operands.push_back(group.piece_of.at(id));
    if (!made.operands.empty()) overwritings_.push_back(std::move(made));
  }

  // Adding up

  std::int64_t width(BufferId id) const { return row(nest_.at(id).type).bytes; }
  std::vector<Fullest> most() const {
    std::map<std::vector<std::int64_t>, std::map<Instant, Fullest>> changes;  // of each memory, from an instant on
    const auto change = [&](const Life& piece, Instant at, std::int64_t values, std::int64_t bytes) {
      auto& there = changes[piece.memory][at];
      there.values += values, there.bytes += bytes;
    };
    for (const auto& piece : pieces_) {
      if (piece.first < 0) continue;
      const auto values = sizes_[piece.buffer.index], bytes = values * width(piece.buffer);
      change(piece, piece.first, values, bytes);
      change(piece, piece.last + 1, -values, -bytes);
    }
    for (const auto& [at, result, operands] : overwritings_) {
      const auto widest = widest_that_ends(at, result, operands);
      if (widest == 0) continue;
      const auto& piece = pieces_[result];
      const auto values = sizes_[piece.buffer.index], bytes = values * std::min(width(piece.buffer), widest);
      change(piece, at, -values, -bytes);
      change(piece, at + 1, values, bytes);
    }
    std::vector<Fullest> all(levels_ - 1);
    for (const auto& [memory, of_memory] : changes) {
      Fullest now;
      auto& most = all[static_cast<std::size_t>(memory.front()) - 1];
      for (const auto& [at, here] : of_memory) {
        now.values += here.values, now.bytes += here.bytes;
        most.values = std::max(most.values, now.values), most.bytes = std::max(most.bytes, now.bytes);
      }
    }
    for (std::size_t level = 1; level < levels_; ++level)
      if (hardware_.levels[level].shared)
        all[level - 1].values /= siblings_[level], all[level - 1].bytes /= siblings_[level];
    return all;
  }
  std::int64_t widest_that_ends(Instant at, std::size_t result, const std::vector<std::size_t>& operands) const {
    std::int64_t widest = 0;
    if (pieces_[result].first != at) return widest;
    for (const auto operand : operands)
      if (operand != result && pieces_[operand].last == at) widest = std::max(widest, width(pieces_[operand].buffer));
    return widest;
  }

  const LoopNest& nest_;
  const Hardware& hardware_;
  std::size_t levels_;
  Reading reading_;
  std::vector<std::int64_t> siblings_;  // by level, the most groups of one parent
  std::vector<std::int64_t> sizes_;     // by buffer, of a whole piece
  std::vector<Life> pieces_;
  std::vector<Overwriting> overwritings_;
  Instant now_ = 0;
};

}  // namespace

std::vector<Fullest> residents(const LoopNest& nest, const Hardware& hardware) { return Walk(nest, hardware).run(); }

}  // namespace napkin
