// Finds what each level holds of every buffer, column by column and turn by turn.
#include "cost/model/holdings.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cost/model/columns.hpp"
#include "loops/turns.hpp"

namespace napkin {
namespace {

bool is_one_of(const std::vector<ArrayId>& arrays, ArrayId array) {
  return std::ranges::find(arrays, array) != arrays.end();
}

bool is_within_output(const LoopNest& nest, ArrayId array) {
  return std::ranges::any_of(nest.outputs, [&](ArrayId output) {
    const auto& there = nest.scratch.at(output).wires;
    return std::ranges::all_of(nest.scratch.at(array).wires,
                               [&](WireId wire) { return std::ranges::find(there, wire) != there.end(); });
  });
}

// What outlives a piece of a loop counts in any model. A buffer that becomes an output, or is no larger than one, does
// not count in addition to the output's tile.
std::set<BufferId> outliving(const Walked& walked, const std::vector<Held>& all) {
  std::set<BufferId> kept;
  for (const auto& held : all)
    for (const auto id : held.buffers)
      if (walked.home.at(id).size() < walked.depth.at(held.compute) &&
          !is_within_output(walked.nest, walked.nest.at(id).array))
        kept.insert(id);
  return kept;
}

// Holdings have the numbers of their buffers.
void add_buffers(Walked& walked, const std::vector<Held>& all) {
  auto& model = walked.model;
  const auto& nest = walked.nest;
  const auto kept = outliving(walked, all);
  model.ideal.resize(walked.leaf() + 1);
  for (std::uint32_t i = 0; i < nest.buffers.size(); ++i) {
    const auto& buffer = nest.buffers[i];
    const auto& array = walked.diagram().at(buffer.array);
    CostModel::Holding held{buffer.array, array.name, row(buffer.type).bytes, {}, buffer.type, array.stored()};
    walked.places.reach(held.values, buffer.at, buffer.array, buffer.level, walked.home[BufferId{i}], false);
    const bool counts = is_one_of(nest.inputs, buffer.array) || is_one_of(nest.outputs, buffer.array) ||
                        walked.swept.contains(BufferId{i}) || kept.contains(BufferId{i});
    if (counts) model.ideal[buffer.level].push_back(i);
    model.holdings.push_back(std::move(held));
  }
}

std::vector<std::size_t> of_level(const LoopNest& nest, const std::vector<BufferId>& buffers, std::size_t level) {
  std::vector<std::size_t> all;
  for (const auto id : buffers)
    if (nest.at(id).level == level) all.push_back(id.index);
  return all;
}

CostModel::Column column_at(const LoopNest& nest, const Held& held, std::size_t level) {
  CostModel::Column column{level, of_level(nest, held.buffers, level), {}, {}};
  if (held.overwrites && nest.at(held.overwrites->first).level == level)
    column.shared.emplace_back(held.overwrites->first.index, held.overwrites->second.index);
  return column;
}

void add_columns(Walked& walked, const std::vector<Held>& all) {
  auto& columns = walked.model.columns;
  for (const auto& held : all)
    for (std::size_t level = 1; level <= walked.leaf(); ++level)
      if (auto column = column_at(walked.nest, held, level); !column.held.empty()) columns.push_back(std::move(column));
  keep_largest(columns);
}

// Instants are single columns and, for every level below whose groups take turns, everything that lives in one turn:
// the last group still needs it when the first is done with it.
class Instants {
 public:
  Instants(const Walked& walked, const std::vector<Held>& all)
      : nest_(walked.nest), hardware_(walked.hardware), all_(all), taken_(turns(nest_)) {}

  std::vector<CostModel::Instant> at(std::size_t level) const {
    std::vector<CostModel::Instant> made;
    for (std::size_t i = 0; i < all_.size(); ++i)
      made.push_back({column_at(nest_, all_[i], level), 0, waiting(taken_[i], level)});
    for (auto below = level + 1; below < hardware_.levels.size(); ++below)
      if (!hardware_.levels[below].shared)
        for (auto& [number, turn] : of_turns(level, below)) made.push_back(std::move(turn));
    keep_largest(made);
    return made;
  }

 private:
  std::map<std::size_t, CostModel::Instant> of_turns(std::size_t level, std::size_t below) const {
    std::map<std::size_t, CostModel::Instant> of_turn;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      auto& turn = of_turn[taken_[i][below - 2].number];
      auto here = of_level(nest_, all_[i].buffers, level);
      here.insert(here.end(), turn.at_work.held.begin(), turn.at_work.held.end());
      std::ranges::sort(here);
      here.erase(std::unique(here.begin(), here.end()), here.end());
      turn = {{level, std::move(here), {}, {}}, below, waiting(taken_[i], level)};
    }
    return of_turn;
  }
  std::vector<CostModel::Waiting> waiting(const std::vector<Turn>& turns, std::size_t level) const {
    std::vector<CostModel::Waiting> all;
    for (const auto& turn : turns) {
      CostModel::Waiting made{turn.level, of_level(nest_, turn.before, level), of_level(nest_, turn.after, level)};
      if (turn.level <= level && !(made.before.empty() && made.after.empty())) all.push_back(std::move(made));
    }
    return all;
  }

  const LoopNest& nest_;
  const Hardware& hardware_;
  const std::vector<Held>& all_;
  std::vector<std::vector<Turn>> taken_;  // by column
};

bool may_wait(const Hardware& hardware) {
  const auto& levels = hardware.levels;
  return levels.size() > 2 &&
         std::any_of(levels.begin() + 2, levels.end(), [](const Level& level) { return !level.shared; });
}

void add_instants(Walked& walked, const std::vector<Held>& all) {
  walked.model.instants.resize(walked.leaf() + 1);
  if (!may_wait(walked.hardware)) return;
  const Instants instants(walked, all);
  for (std::size_t level = 1; level <= walked.leaf(); ++level) walked.model.instants[level] = instants.at(level);
}

}  // namespace

void add_holdings(Walked& walked) {
  const auto all = held(walked.nest);
  add_buffers(walked, all);
  add_columns(walked, all);
  add_instants(walked, all);
}

}  // namespace napkin
