// Turns a derivation and the wires to stream along into loops around columns.
//
// The outermost wire is absorbed first; its body and the columns before and after it are then nested along the
// remaining wires in the same way. A wire that is already streamed only gets a finer loop: the same program absorbs a
// smaller piece.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "derive/columns.hpp"
#include "derive/masks.hpp"
#include "derive/streams/absorb.hpp"

namespace napkin {
namespace {

class Nester {
 public:
  Nester(const Derivation& derivation, std::span<const WireId> wires)
      : wires_(wires), file_arrays_(derivation.file_arrays) {
    program_.scratch = derivation.scratch;
    program_.inputs = derivation.inputs;
    program_.outputs = derivation.outputs;
  }

  std::variant<Program, Refused> run(const std::vector<Column>& columns) {
    program_.steps = nest(columns, 0, {}, {program_.outputs.begin(), program_.outputs.end()});
    if (refused_) return *refused_;
    std::vector<ArrayId> used;
    collect_outputs(program_.steps, used);
    settle_names(program_.scratch, file_arrays_, used);
    find_needs(program_);
    return std::move(program_);
  }

 private:
  using Steps = std::vector<Step>;

  static void collect_outputs(const Steps& steps, std::vector<ArrayId>& used) {
    for (const auto& step : steps)
      if (const auto* column = std::get_if<Column>(&step)) {
        if (std::ranges::find(used, column->output) == used.end()) used.push_back(column->output);
      } else {
        collect_outputs(std::get<Loop>(step).body, used);
      }
  }

  Steps nest(const std::vector<Column>& columns, std::size_t label, const std::set<WireId>& around,
             const std::set<ArrayId>& needed) {
    if (label == wires_.size() || refused_) return Steps(columns.begin(), columns.end());
    const WireId wire = wires_[label];
    if (std::ranges::none_of(columns, [&](const Column& c) { return involves(program_.scratch, c, wire); }))
      return nest(columns, label + 1, around, needed);
    if (around.contains(wire) || absorbs_already(columns, wire, needed)) return finer(columns, label, around, needed);
    return absorbed(columns, label, around, needed);
  }

  // Whether the states already fold over this wire too. The same columns then absorb pieces of it (S2: a piece is any
  // set of positions), if only other such states follow, or pointwise columns that are not used outside.
  bool absorbs_already(const std::vector<Column>& columns, WireId wire, const std::set<ArrayId>& needed) const {
    const auto has = [&](const std::vector<WireId>& wires) { return std::ranges::find(wires, wire) != wires.end(); };
    std::set<ArrayId> following;
    for (const auto& column : columns) {
      const auto sources = reads(program_.scratch, column);
      const bool folds = has(column.over);
      if (folds && !column.carried) return false;
      if (!folds && std::ranges::none_of(sources, [&](ArrayId a) { return following.contains(a); })) continue;
      const bool kept = has(program_.scratch.at(column.output).wires) && needed.contains(column.output);
      if ((column.fold && !folds) || kept) return false;
      following.insert(column.output);
    }
    return !following.empty();
  }

  // A finer loop over a wire that is already streamed, or that all states fold over. It repeats the columns that vary
  // along the wire, and those that depend on them.
  Steps finer(const std::vector<Column>& columns, std::size_t label, const std::set<WireId>& around,
              const std::set<ArrayId>& needed) {
    if (const auto lost = left_outside(columns, wires_[label])) return refuse(*lost, wires_[label]), Steps{};
    std::vector<Column> before, body, after;
    std::vector<bool> varies;
    std::set<ArrayId> varying, read;
    for (const auto& column : columns) {
      const auto sources = reads(program_.scratch, column);
      const bool follows = std::ranges::any_of(sources, [&](ArrayId a) { return varying.contains(a); });
      varies.push_back(follows || involves(program_.scratch, column, wires_[label]));
      if (varies.back()) varying.insert(column.output);
    }
    for (std::size_t i = columns.size(); i-- > 0;) {
      const bool early = !varies[i] && (read.contains(columns[i].output) || is_read_before(columns[i], body));
      auto& to = varies[i] ? body : early ? before : after;
      to.insert(to.begin(), columns[i]);
      if (!varies[i] && !early) continue;
      for (const auto array : reads(program_.scratch, columns[i])) read.insert(array);
    }
    const auto outside = together(needed, after);
    for (auto& column : body)
      if (is_repaired_once(column, wires_[label], varying)) {
        if (splits_again(label, around)) return refuse(column.output, wires_[label]), Steps{};
        before.push_back(repaired(column));
        column.repair.reset();
      }
    Steps steps = nest(before, label + 1, around, together(together(needed, body), after));
    auto inside = around;
    inside.insert(wires_[label]);
    steps.push_back(Loop{label, wires_[label], nest(body, label + 1, inside, together(outside, body)), {}});
    append(steps, nest(after, label + 1, around, needed));
    return steps;
  }

  // Whether the column reads arrays that later columns change.
  bool is_read_before(const Column& column, const std::vector<Column>& later) const {
    const auto all = reads(program_.scratch, column);
    return std::ranges::any_of(later, [&](const Column& c) { return std::ranges::find(all, c.output) != all.end(); });
  }
  // Whether a rescaling factor is the same for all pieces of a wire, so that the state is rescaled once, before the
  // first piece. A state that keeps the wire is rescaled in each piece.
  bool is_repaired_once(const Column& column, WireId wire, const std::set<ArrayId>& varying) const {
    const auto& kept = program_.scratch.at(column.output).wires;
    if (!column.repair || std::ranges::find(kept, wire) != kept.end()) return false;
    const auto read = arrays_read(program_.scratch, *column.repair);
    return std::ranges::none_of(read, [&](ArrayId array) { return varying.contains(array); });
  }
  Column repaired(const Column& column) {
    const ExprId old = read_whole(program_.scratch, *column.carried);
    const ExprId value = program_.scratch.intern(Apply{find_pointwise("*"), {*column.repair, old}});
    return {*column.carried, value, nullptr, {}, {}, {}};
  }
  bool splits_again(std::size_t label, const std::set<WireId>& around) const {
    return std::any_of(wires_.begin() + static_cast<std::ptrdiff_t>(label) + 1, wires_.end(),
                       [&](WireId wire) { return around.contains(wire); });
  }

  // Columns that absorb a piece together must also absorb a finer piece together, with no loop over another wire
  // between them. So columns of the loop may not read, from columns outside of it, arrays that differ from piece to
  // piece and lack the wire. Returns such an array.
  std::optional<ArrayId> left_outside(const std::vector<Column>& columns, WireId wire) const {
    const auto around = [&](const Together& t) { return t.taking == wire; };
    const bool streamed = std::any_of(together_.begin(), together_.end(), around);
    for (auto some = together_.rbegin(); some != together_.rend(); ++some) {
      if (const auto lost = left_outside(columns, wire, *some->columns)) return lost;
      if (!streamed || around(*some)) break;  // columns further out are finished before the first piece
    }
    return std::nullopt;
  }
  std::optional<ArrayId> left_outside(const std::vector<Column>& columns, WireId wire,
                                      const std::vector<Column>& all) const {
    const auto differing = differing_along(all, wire);
    const auto makes = [](const std::vector<Column>& some, ArrayId array) {
      return std::ranges::any_of(some, [&](const Column& c) { return c.output == array; });
    };
    const auto of_one_piece = [&](ArrayId array) {
      const auto& kept = program_.scratch.at(array).wires;
      return differing.contains(array) && std::ranges::find(kept, wire) == kept.end();
    };
    for (const auto& column : columns)
      for (const auto array : reads(program_.scratch, column))
        if (of_one_piece(array) && makes(all, array) && !makes(columns, array)) return array;
    // Columns outside may not read an array of the last piece alone either; a carried array contains all pieces.
    for (const auto& column : all)
      for (const auto array : reads(program_.scratch, column))
        if (of_one_piece(array) && !makes(columns, column.output) && is_of_last(columns, array)) return array;
    return std::nullopt;
  }
  static bool is_of_last(const std::vector<Column>& columns, ArrayId array) {
    return std::ranges::any_of(columns, [&](const Column& c) { return c.output == array && c.carried != array; });
  }
  // The arrays that a piece of the wire determines, and the states that pieces change.
  std::set<ArrayId> differing_along(const std::vector<Column>& columns, WireId wire) const {
    std::set<ArrayId> all;
    for (bool more = true; more;) {
      more = false;
      for (const auto& column : columns) {
        const auto sources = reads(program_.scratch, column);
        const bool differs = involves(program_.scratch, column, wire) ||
                             std::ranges::any_of(sources, [&](ArrayId a) { return all.contains(a); });
        if (differs && all.insert(column.output).second) more = true;
      }
    }
    return all;
  }
  void refuse(ArrayId lost, WireId wire) {
    const auto& name = program_.scratch.at(wire).name;
    refused_ = {fmt::format("each piece of `{}` changes `{}`, so no other stream may come between these pieces", name,
                            program_.scratch.at(lost).name),
                {},
                fmt::format("put `{}` before the streams that are between its pieces", name)};
  }

  Steps absorbed(const std::vector<Column>& columns, std::size_t label, std::set<WireId> around,
                 const std::set<ArrayId>& needed) {
    auto result = absorb(program_.scratch, columns, wires_[label], needed, around);
    if (auto* refused = std::get_if<Refused>(&result)) return refused_ = *refused, Steps{};
    auto& [before, programs, rules] = std::get<Absorbed>(result);
    auto body = programs.piece;
    body.insert(body.end(), programs.absorb.begin(), programs.absorb.end());
    const auto read_later = together(needed, programs.finish);
    auto carried = read_later;
    for (const auto& state : programs.state) carried.insert(state.array);
    std::vector<Column> all = before;
    for (const auto* list : {&programs.init, &body, &programs.finish})
      all.insert(all.end(), list->begin(), list->end());
    together_.push_back({std::nullopt, &all});
    Steps steps = nest(before, label + 1, around, together(carried, body));
    append(steps, nest(programs.init, label + 1, around, carried));
    around.insert(wires_[label]);
    together_.push_back({wires_[label], &body});
    steps.push_back(Loop{label, wires_[label], nest(body, label + 1, around, carried), {}});
    together_.pop_back();
    around.erase(wires_[label]);
    append(steps, nest(programs.finish, label + 1, around, needed));
    together_.pop_back();
    return steps;
  }
  std::set<ArrayId> together(std::set<ArrayId> all, const std::vector<Column>& columns) const {
    for (const auto& column : columns)
      for (const auto array : reads(program_.scratch, column)) all.insert(array);
    return all;
  }
  static void append(Steps& to, Steps more) { std::ranges::move(more, std::back_inserter(to)); }

  std::span<const WireId> wires_;
  std::size_t file_arrays_;
  Program program_;
  std::optional<Refused> refused_;
  // The columns around the current ones, innermost last: a whole program, and the part of it that absorbs a piece.
  struct Together {
    std::optional<WireId> taking;
    const std::vector<Column>* columns;
  };
  std::vector<Together> together_;
};

}  // namespace

std::variant<Program, Refused> stream(const Derivation& derivation, std::span<const WireId> wires) {
  return Nester(derivation, wires).run(derivation.columns);
}

}  // namespace napkin
