// The sum over earlier chunks is again a reduction over the positions before another one. It is computed in groups of
// chunks: the chunks of a group are taken in order, and the contributions of groups have statements of their own.
#include "derive/prefixes/groups.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "derive/columns.hpp"
#include "diagram/index.hpp"
#include "diagram/operands.hpp"

namespace napkin {

namespace {

// Gives the states of groups their own copies of the states of chunks that they read, so that a kernel that needs only
// one kind does not compute the other.
class Apart {
 public:
  Apart(Diagram& diagram, const std::vector<PrefixReduction>& chunks, const std::vector<PrefixReduction>& groups)
      : diagram_(diagram) {
    for (const auto& one : chunks) of_chunks_.insert(one.states.begin(), one.states.end());
    for (const auto& one : groups) of_groups_.insert(one.states.begin(), one.states.end());
  }
  void run() {
    for (auto& statement : std::exchange(diagram_.statements, {})) {
      values_[statement.output] = statement;
      const bool of_group = of_groups_.contains(diagram_.at(statement.output).name);
      const ExprId value = of_group ? apart(statement.value) : statement.value;
      diagram_.statements.push_back({statement.output, value, statement.span});
    }
    put_first();
  }

 private:
  // Moves all statements that the states of groups need to the front, so that the other statements stay together.
  void put_first() {
    std::set<ArrayId> needed;
    auto& all = diagram_.statements;
    for (auto statement = all.rbegin(); statement != all.rend(); ++statement) {
      if (of_groups_.contains(diagram_.at(statement->output).name)) needed.insert(statement->output);
      if (!needed.contains(statement->output)) continue;
      for (const auto array : arrays_read(diagram_, statement->value)) needed.insert(array);
    }
    std::stable_partition(all.begin(), all.end(), [&](const Statement& one) { return needed.contains(one.output); });
  }
  ExprId apart(ExprId e, const Renaming& to = {}) {
    const auto node = diagram_.at(e).node;
    if (const auto* read = std::get_if<Access>(&node)) return apart(*read, to);
    const auto* position = std::get_if<Position>(&node);
    if (position && to.contains(position->wire)) return diagram_.intern(Position{to.at(position->wire)});
    return with_operands(diagram_, e, [&](ExprId operand) { return apart(operand, to); });
  }
  ExprId apart(const Access& own, const Renaming& to) {
    const auto read = renamed(own, to);
    const ExprId there = diagram_.intern(read);
    return of_chunks_.contains(diagram_.at(read.array).name) ? copy(there, read) : there;
  }
  // A copy of a chunk's state along the wires of the read.
  ExprId copy(ExprId there, const Access& read) {
    if (const auto known = copies_.find(there); known != copies_.end()) return known->second;
    const auto to = renaming(diagram_, read);
    if (!to) return there;
    const auto whole = diagram_.at(read.array);
    std::vector<WireId> wires;
    for (const auto wire : whole.wires) wires.push_back(to->at(wire));
    const auto statement = values_.at(read.array);
    const ExprId value = apart(statement.value, *to);
    const auto made = new_array(diagram_, whole.name, whole.type, std::move(wires), whole.span);
    diagram_.statements.push_back({made, value, statement.span});
    return copies_[there] = read_whole(diagram_, made);
  }

  Diagram& diagram_;
  std::set<std::string> of_chunks_, of_groups_;
  std::map<ArrayId, Statement> values_;
  std::map<ExprId, ExprId> copies_;
};

// Whether sums of chunks are kept relative to maxima. Those of groups would be relative to two maxima and rounded
// twice.
bool is_relative(const PrefixesInChunks& chunks) {
  std::set<const Reduction*> reductions;
  for (const auto& statement : chunks.diagram.statements)
    for (const auto& one : chunks.made) {
      const bool is_state = std::ranges::count(one.states, chunks.diagram.at(statement.output).name) > 0;
      any_part(chunks.diagram, statement.value, [&](ExprId part) {
        const auto* reduce = std::get_if<Reduce>(&chunks.diagram.at(part).node);
        if (is_state && reduce) reductions.insert(reduce->reduction);
        return false;
      });
    }
  return reductions.size() > 1;
}

}  // namespace

PrefixesInChunks prefixes_in_groups(const Diagram& diagram, std::int64_t length, std::int64_t of_group) {
  auto made = prefixes_in_chunks(diagram, length);
  std::vector<std::string> chunks;
  for (const auto& one : made.made) chunks.push_back(one.chunk);
  const auto in_whole_groups = [&](const std::string& chunk) {
    return *made.diagram.size(*find_wire(made.diagram, chunk)) % of_group == 0;
  };
  if (chunks.empty() || is_relative(made) || !std::ranges::all_of(chunks, in_whole_groups)) return {diagram, {}, {}};
  auto groups = chunks_in_groups(made.diagram, of_group, chunks);
  if (groups.made.empty()) return {diagram, {}, {}};
  Apart(groups.diagram, made.made, groups.made).run();
  made.diagram = std::move(groups.diagram);
  for (auto& one : groups.made) one.of_groups = true, made.made.push_back(std::move(one));
  return made;
}

}  // namespace napkin
