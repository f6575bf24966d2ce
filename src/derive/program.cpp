// A derivation and the wires to stream along, to loops around columns.
//
// The outermost wire is absorbed first; its body, what comes before and what finishes it are then nested along the
// remaining wires in the same way. A wire that is being streamed already only gets a finer loop: a smaller piece is
// absorbed by the same program.
#include <algorithm>
#include <set>

#include "derive/absorb.hpp"
#include "derive/columns.hpp"
#include "derive/masks.hpp"

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
    if (around.contains(wire)) return finer(columns, label, around, needed);
    return absorbed(columns, label, around, needed);
  }

  // A finer loop over a wire that is streamed already repeats what varies along it, and what follows from that.
  Steps finer(const std::vector<Column>& columns, std::size_t label, const std::set<WireId>& around,
              const std::set<ArrayId>& needed) {
    std::vector<Column> before, body, after;
    std::set<ArrayId> varying, read;
    for (const auto& column : columns) {
      const auto sources = reads(program_.scratch, column);
      const bool follows = std::ranges::any_of(sources, [&](ArrayId a) { return varying.contains(a); });
      if (!follows && !involves(program_.scratch, column, wires_[label])) continue;
      varying.insert(column.output);
      read.insert(sources.begin(), sources.end());
      body.push_back(column);
    }
    for (auto column = columns.rbegin(); column != columns.rend(); ++column) {
      if (varying.contains(column->output)) continue;
      const bool early = read.contains(column->output);
      (early ? before : after).insert((early ? before : after).begin(), *column);
      if (early)
        for (const auto array : reads(program_.scratch, *column)) read.insert(array);
    }
    const auto outside = together(needed, after);
    Steps steps = nest(before, label + 1, around, together(together(needed, body), after));
    steps.push_back(Loop{label, wires_[label], nest(body, label + 1, around, together(outside, body)), {}});
    append(steps, nest(after, label + 1, around, needed));
    return steps;
  }

  Steps absorbed(const std::vector<Column>& columns, std::size_t label, std::set<WireId> around,
                 const std::set<ArrayId>& needed) {
    auto result = absorb(program_.scratch, columns, wires_[label], needed);
    if (auto* refused = std::get_if<Refused>(&result)) return refused_ = *refused, Steps{};
    auto& [before, programs, rules] = std::get<Absorbed>(result);
    auto body = programs.piece;
    body.insert(body.end(), programs.absorb.begin(), programs.absorb.end());
    const auto read_later = together(needed, programs.finish);
    auto carried = read_later;
    for (const auto& state : programs.state) carried.insert(state.array);
    Steps steps = nest(before, label + 1, around, together(carried, body));
    append(steps, nest(programs.init, label + 1, around, carried));
    around.insert(wires_[label]);
    steps.push_back(Loop{label, wires_[label], nest(body, label + 1, around, carried), {}});
    around.erase(wires_[label]);
    append(steps, nest(programs.finish, label + 1, around, needed));
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
};

}  // namespace

std::variant<Program, Refused> stream(const Derivation& derivation, std::span<const WireId> wires) {
  return Nester(derivation, wires).run(derivation.columns);
}

}  // namespace napkin
