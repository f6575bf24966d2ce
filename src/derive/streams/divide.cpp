// Divides a streamed wire: its parts are absorbed in parallel, each into a state of its own, and the states are merged.
//
// Both halves become statements. The first is the program's init and absorb, run once over a whole part. The second
// joins the states of all parts, as `merge` joins two, and ends with `finish`. The two resulting kernels are treated
// like any other by every later stage.
#include "derive/streams/divide.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "derive/columns.hpp"
#include "derive/split_wire.hpp"
#include "diagram/assume.hpp"
#include "diagram/operands.hpp"

namespace napkin {
namespace {

class Divider {
 public:
  Divider(const Diagram& diagram, const Derivation& derivation, const Streamable& programs, WireId wire,
          std::int64_t parts)
      : derivation_(derivation), programs_(programs), wire_(wire) {
    made_.diagram = programs.scratch;
    made_.diagram.name = diagram.name;
    const auto length = *diagram.size(wire) / parts;
    part_ = add_wire(made_.diagram, diagram.at(wire).name + "_part", parts);
    inside_ = add_wire(made_.diagram, diagram.at(wire).name + "_in_part", length);
    split_ = {wire, part_, inside_, length};
    made_.part = part_, made_.inside = inside_;
    assume_parts(made_.diagram, axis(wire), axis(part_), axis(inside_), length);
  }

  std::optional<Divided> run() {
    for (const auto& column : programs_.before) write(column, Of::all_parts, leaves(column));
    for (const auto* list : {&programs_.init, &programs_.piece, &programs_.absorb})
      for (const auto& column : *list) write(column, Of::a_part, false);
    parts_ = statements_.size();
    for (const auto& state : programs_.state) states_.push_back(known_.at(state.array));
    for (const auto& column : programs_.merge)
      if (!merge(column)) return std::nullopt;
    for (const auto& state : programs_.state)
      if (!merged_.contains(state.array)) return std::nullopt;
    for (const auto& column : programs_.finish) write(column, Of::the_whole, leaves(column));
    leave_states();
    if (!assemble()) return std::nullopt;
    return std::move(made_);
  }

 private:
  Diagram& diagram() { return made_.diagram; }
  AxisId axis(WireId wire) const { return made_.diagram.at(wire).axis; }

  // ---- expressions ----
  // Arrays of the programs become constants, or accesses to the arrays that the new statements make.
  bool is_number(ExprId id) const { return std::holds_alternative<Constant>(made_.diagram.at(id).node); }

  ExprId rewritten(ExprId id) {
    const auto node = diagram().at(id).node;
    if (const auto* at = std::get_if<Position>(&node)) return at->wire == wire_ ? position(diagram(), split_) : id;
    if (const auto* access = std::get_if<Access>(&node)) return rewritten(*access);
    return with_operands(diagram(), id, [&](ExprId operand) { return rewritten(operand); });
  }
  ExprId apply(std::string_view name, std::vector<ExprId> arguments) {
    return diagram().intern(Apply{find_pointwise(name), std::move(arguments)});
  }
  // An array that a statement made keeps its wires, except that the divided wire is gone and a part's array has the
  // wire of the parts.
  ExprId rewritten(const Access& access) {
    const auto found = known_.find(access.array);
    if (found == known_.end()) {
      Access made{access.array, {}};
      for (const auto& index : access.at) made.at.push_back(divided(index, split_));
      return diagram().intern(std::move(made));
    }
    if (is_number(found->second)) return found->second;
    auto made = std::get<Access>(diagram().at(found->second).node);
    const auto& wires = diagram().at(access.array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i)
      if (wires[i] != wire_) replace(made, wires[i], divided(access.at[i], split_));
    return diagram().intern(std::move(made));
  }
  static void replace(Access& access, WireId wire, const Index& by) {
    const Index plain{.terms = {{wire, 1}}};
    for (auto& index : access.at)
      if (index == plain) {
        index = by;
        return;
      }
  }

  // ---- statements ----
  bool leaves(const Column& column) const {
    return std::ranges::find(derivation_.outputs, column.output) != derivation_.outputs.end();
  }
  // Values computed before the parts are the same for all parts. A part's state has the wire of the parts even if it is
  // the same for every part, as a count is.
  enum class Of : std::uint8_t { all_parts, a_part, the_whole };
  void write(const Column& column, Of of, bool leaves) {
    const auto& array = diagram().at(column.output);
    std::optional<ExprId> old;
    if (column.carried) old = rewritten(read_whole(diagram(), *column.carried));
    if (old && column.repair && !is_number(*old)) old = apply("*", {rewritten(*column.repair), *old});
    ExprId value = rewritten(column.value);
    if (column.fold) value = reduced(column, value);
    if (old && !(is_number(*old) && std::get<Constant>(diagram().at(*old).node).value == column.fold->identity))
      value = diagram().intern(Apply{column.fold->combine, {*old, value}});
    if (!leaves && (is_number(value) || is_alias(value, array, of == Of::a_part))) {
      known_[column.output] = value;
      return;
    }
    known_[column.output] = state(column.output, value, of == Of::a_part, leaves || of == Of::the_whole);
  }
  ExprId reduced(const Column& column, ExprId value) {
    std::vector<WireId> over;
    for (const auto wire : column.over) over.push_back(wire == wire_ ? inside_ : wire);
    std::ranges::sort(over);
    return diagram().intern(Reduce{column.fold, std::move(over), value});
  }
  // Whether the value is only another name for an array, as in `m = n`. A different type is no alias, because storing
  // rounds.
  bool is_alias(ExprId value, const Array& as, bool of_part) const {
    const auto* access = std::get_if<Access>(&made_.diagram.at(value).node);
    if (!access || !made_by_us_.contains(access->array)) return false;
    const auto& own = made_.diagram.at(access->array);
    return own.type == as.type && own.wires.size() == as.wires.size() + (of_part ? 1 : 0);
  }
  // Adds a statement; returns how its array is read at its own place. Only the statement that `finishes` an array of
  // the file writes that array. A part's result has an array of its own, even if it is the same for every part.
  ExprId state(ArrayId array, ExprId value, bool of_part, bool finishes) {
    std::vector<WireId> wires;
    for (const auto wire : diagram().at(array).wires) wires.push_back(wire == wire_ ? inside_ : wire);
    if (of_part) wires.insert(wires.begin(), part_);
    const bool own = finishes && array.index < derivation_.file_arrays && wires == diagram().at(array).wires;
    if (!own)
      array = new_array(diagram(), diagram().at(array).name, diagram().at(array).type, wires, diagram().at(array).span);
    statements_.push_back({array, value, diagram().at(value).span});
    made_by_us_.insert(array);
    return read_whole(diagram(), array);
  }

  // ---- merging ----
  bool merge(const Column& column) {
    const auto* combine = std::get_if<Apply>(&diagram().at(column.value).node);
    if (column.fold) return false;
    const auto at = std::ranges::find(programs_.state, column.output, &Carried::array);
    const auto* copy = std::get_if<Access>(&diagram().at(column.value).node);
    if (at != programs_.state.end() && copy) {
      merged_[column.output] = known_[column.output] = merged_.at(copy->array);
      return true;
    }
    const auto joined = combine && combine->arguments.size() == 2 ? reduction(combine->function) : nullptr;
    const auto theirs = joined ? std::ranges::find_if(combine->arguments, [&](ExprId a) { return is_theirs(a); })
                               : std::vector<ExprId>::const_iterator();
    if (joined && theirs != combine->arguments.end() &&
        std::ranges::any_of(combine->arguments, [&](ExprId a) { return a != *theirs && is_mine(a); }))
      return join(column.output, joined, *theirs);
    inlined_[column.output] = column.value;
    return true;
  }
  static const Reduction* reduction(const Pointwise* combine) {
    const auto found = std::ranges::find(reductions(), combine, &Reduction::combine);
    return found == reductions().end() ? nullptr : &*found;
  }
  bool reads_any(ExprId id, const auto& belongs) {
    return std::ranges::any_of(arrays_read(diagram(), id), [&](ArrayId array) {
      const auto inlined = inlined_.find(array);
      return belongs(array) || (inlined != inlined_.end() && reads_any(inlined->second, belongs));
    });
  }
  bool is_theirs(ExprId id) {
    return reads_any(id, [&](ArrayId a) { return std::ranges::find(programs_.other, a) != programs_.other.end(); });
  }
  bool is_mine(ExprId id) {
    return reads_any(
        id, [&](ArrayId a) { return std::ranges::find(programs_.state, a, &Carried::array) != programs_.state.end(); });
  }
  // Joins the states of all parts by the reduction that joins two.
  bool join(ArrayId array, const Reduction* reduction, ExprId theirs) {
    const ExprId value = of_parts(theirs);
    const ExprId all = diagram().intern(Reduce{reduction, {part_}, value});
    merged_[array] = known_[array] = state(array, all, false, true);
    return true;
  }
  ExprId of_parts(ExprId id) {
    const auto node = diagram().at(id).node;
    if (const auto* access = std::get_if<Access>(&node)) {
      const auto other = std::ranges::find(programs_.other, access->array);
      if (other != programs_.other.end()) return states_[static_cast<std::size_t>(other - programs_.other.begin())];
      if (const auto inlined = inlined_.find(access->array); inlined != inlined_.end())
        return of_parts(inlined->second);
      return merged_.contains(access->array) ? merged_.at(access->array) : id;
    }
    return with_operands(diagram(), id, [&](ExprId operand) { return of_parts(operand); });
  }

  bool is_made(ArrayId array) const {
    return std::ranges::find(statements_, array, &Statement::output) != statements_.end();
  }
  // Writes states that are arrays of the file and leave the kernel, for example a maximum that is an output.
  void leave_states() {
    for (const auto output : derivation_.outputs) {
      const auto all = merged_.find(output);
      if (is_made(output) || all == merged_.end()) continue;
      statements_.push_back({output, all->second, diagram().at(output).span});
      made_by_us_.insert(output);
    }
  }

  // ---- the new diagram ----
  // Replaces the kernel's statements by the new ones, producers first. False if statements depend on each other in a
  // cycle, or if none makes an array that leaves the kernel.
  bool assemble() {
    drop_unneeded();
    if (!std::ranges::all_of(derivation_.outputs, [&](ArrayId output) { return is_made(output); })) return false;
    std::vector<ArrayId> used;
    for (const auto& statement : statements_) used.push_back(statement.output);
    give_up_names(used);
    settle_names(diagram(), derivation_.file_arrays, used);
    std::vector<Statement> waiting;
    for (std::uint32_t i = 0; i < diagram().statements.size(); ++i)
      if (std::ranges::find(derivation_.statements, StatementId{i}) == derivation_.statements.end())
        waiting.push_back(diagram().statements[i]);
    waiting.insert(waiting.end(), statements_.begin(), statements_.end());
    auto& ordered = diagram().statements;
    ordered.clear();
    while (!waiting.empty()) {
      const auto ready = std::ranges::find_if(waiting, [&](const Statement& one) {
        const auto read = arrays_read(diagram(), one.value);
        return std::ranges::none_of(
            waiting, [&](const Statement& other) { return std::ranges::find(read, other.output) != read.end(); });
      });
      if (ready == waiting.end()) return false;
      ordered.push_back(*ready);
      waiting.erase(ready);
    }
    for (std::uint32_t i = 0; i < ordered.size(); ++i) {
      const auto at = std::ranges::find(statements_, ordered[i].output, &Statement::output);
      if (at == statements_.end()) continue;
      (static_cast<std::size_t>(at - statements_.begin()) < parts_ ? made_.parts : made_.merging).push_back({i});
    }
    return true;
  }
  // Renames arrays of the whole that are no longer used, so that the arrays of parts can have their names.
  void give_up_names(const std::vector<ArrayId>& used) {
    for (const auto id : derivation_.statements) {
      const auto output = diagram().at(id).output;
      if (std::ranges::find(used, output) == used.end()) diagram().at(output).name += " of the whole";
    }
  }
  void drop_unneeded() {
    std::set<ArrayId> needed(derivation_.outputs.begin(), derivation_.outputs.end());
    std::vector<bool> kept(statements_.size());
    for (auto i = statements_.size(); i-- > 0;) {
      kept[i] = needed.contains(statements_[i].output);
      if (!kept[i]) continue;
      for (const auto array : arrays_read(diagram(), statements_[i].value)) needed.insert(array);
    }
    std::vector<Statement> all;
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      if (kept[i]) all.push_back(statements_[i]);
      if (i + 1 == parts_) parts_ = all.size();
    }
    statements_ = std::move(all);
  }

  const Derivation& derivation_;
  const Streamable& programs_;
  WireId wire_, part_, inside_;
  SplitWire split_;
  Divided made_;
  std::map<ArrayId, ExprId> known_;    // arrays of the programs, as rewritten
  std::vector<ExprId> states_;         // of one part, by state
  std::map<ArrayId, ExprId> merged_;   // states of all parts, joined
  std::map<ArrayId, ExprId> inlined_;  // values that only merging needs
  std::set<ArrayId> made_by_us_;
  std::vector<Statement> statements_;
  std::size_t parts_ = 0;  // number of statements that compute parts
};

// No output may vary along the wire, and the number of parts must divide its size.
bool is_divisible(const Derivation& derivation, WireId wire, std::int64_t parts) {
  const auto size = derivation.scratch.size(wire);
  if (!size || parts < 2 || *size % parts != 0) return false;
  return std::ranges::none_of(derivation.outputs, [&](ArrayId output) {
    const auto& wires = derivation.scratch.at(output).wires;
    return std::ranges::find(wires, wire) != wires.end();
  });
}

}  // namespace

std::optional<Divided> divide(const Diagram& diagram, const Derivation& derivation, WireId wire, std::int64_t parts) {
  const auto* verdict = derivation.find(wire);
  const auto* programs = verdict ? std::get_if<Streamable>(&verdict->stream) : nullptr;
  if (!programs || !verdict->is_merged() || !is_divisible(derivation, wire, parts)) return std::nullopt;
  return Divider(diagram, derivation, *programs, wire, parts).run();
}

}  // namespace napkin
