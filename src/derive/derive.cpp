// The verdict on every wire of a set of fused statements: may it be grouped, may it be streamed, and why (not).
#include "napkin/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "derive/columns.hpp"
#include "derive/streams/absorb.hpp"
#include "diagram/contains.hpp"
#include "diagram/match.hpp"

namespace napkin {
namespace {

std::vector<ArrayId> inputs_of(const Derivation& derivation) {
  std::set<ArrayId> made;
  std::vector<ArrayId> all;
  for (const auto& column : derivation.columns) {
    for (const auto array : reads(derivation.scratch, column))
      if (!made.contains(array) && std::ranges::find(all, array) == all.end()) all.push_back(array);
    made.insert(column.output);
  }
  std::ranges::sort(all);
  return all;
}

std::vector<WireId> wires_in_order(const Derivation& derivation) {
  std::vector<WireId> all;
  const auto add = [&](WireId wire) {
    if (!contains(all, wire)) all.push_back(wire);
  };
  for (const auto& column : derivation.columns) {
    for (const auto wire : derivation.scratch.at(column.output).wires) add(wire);
    for (const auto wire : column.over) add(wire);
  }
  return all;
}

const Column* folding(const Derivation& derivation, WireId wire) {
  const auto found = std::ranges::find_if(derivation.columns, [&](const Column& c) { return contains(c.over, wire); });
  return found == derivation.columns.end() ? nullptr : &*found;
}

// States may be merged across groups if only pointwise columns follow, so that no fold comes after the merge.
bool merges(const std::variant<Streamable, Refused>& stream) {
  const auto* programs = std::get_if<Streamable>(&stream);
  if (!programs || programs->state.empty()) return false;
  return std::ranges::none_of(programs->finish, [](const Column& c) { return c.fold != nullptr; });
}

// The first read below an expression of an array that these statements make, at a position other than the wire's own.
std::optional<ExprId> read_elsewhere(const Derivation& derivation, ExprId id, WireId wire) {
  const auto& scratch = derivation.scratch;
  const auto among = [&](const std::vector<ExprId>& all) {
    std::optional<ExprId> found;
    for (const auto each : all)
      if (!found) found = read_elsewhere(derivation, each, wire);
    return found;
  };
  const auto here = [&](const Access& read) {
    const auto& wires = scratch.at(read.array).wires;
    for (std::size_t i = 0; i < wires.size(); ++i)
      if (wires[i] == wire && read.at[i] != Index{{{wire, 1}}, 0, 1}) return true;
    return false;
  };
  return match(
      scratch.at(id).node, [](const Constant&) { return std::optional<ExprId>(); },
      [](const Position&) { return std::optional<ExprId>(); }, [](const Size&) { return std::optional<ExprId>(); },
      [&](const Access& read) {
        const bool made = std::ranges::find(derivation.inputs, read.array) == derivation.inputs.end();
        return made && here(read) ? std::optional(id) : std::nullopt;
      },
      [&](const Apply& apply) { return among(apply.arguments); }, [&](const Cast& cast) { return among({cast.value}); },
      [&](const Reduce& reduce) { return among({reduce.body}); });
}

// Groups run in parallel and cannot wait for earlier ones.
std::optional<Refused> refused_in_order(const std::variant<Streamable, Refused>& stream) {
  const auto* programs = std::get_if<Streamable>(&stream);
  if (!programs || !programs->in_order) return std::nullopt;
  const auto step = std::ranges::find(programs->trace, Rule::prefix, &Rewriting::rule);
  const auto& array = programs->scratch.at(step->array);  // which the stream may have added
  return Refused{fmt::format("`{}` reduces what lies before each position: every group would need what those before it "
                             "have left",
                             array.name),
                 array.span};
}

std::variant<Groupable, Refused> group_verdict(const Derivation& derivation, WireId wire,
                                               const std::variant<Streamable, Refused>& stream) {
  const auto& scratch = derivation.scratch;
  const auto& name = scratch.at(wire).name;
  Groupable verdict;
  if (const auto refused = refused_in_order(stream)) return *refused;
  if (const auto* fold = folding(derivation, wire)) {
    const auto& folded = scratch.at(fold->output).name;
    const auto span = scratch.at(fold->value).span;
    if (const auto* refused = std::get_if<Refused>(&stream)) return *refused;
    if (!merges(stream))
      return Refused{
          fmt::format("`{}` reduces over `{}` and is reduced again afterwards: groups would have to exchange "
                      "all of `{}`",
                      folded, name, folded),
          span};
    verdict.by_merge = true;
  } else {
    for (const auto output : derivation.outputs)
      if (!contains(scratch.at(output).wires, wire))
        return Refused{
            fmt::format("output `{}` has no axis `{}`: every group would write it", scratch.at(output).name, name),
            scratch.at(output).span};
  }
  for (const auto& column : derivation.columns)
    if (const auto read = read_elsewhere(derivation, column.value, wire))
      return Refused{
          fmt::format("`{}` reads {} at other positions of `{}` than its own: groups would have to exchange them",
                      scratch.at(column.output).name, to_text(scratch, *read), name),
          scratch.at(*read).span};
  for (const auto& column : derivation.columns)
    if (!contains(scratch.at(column.output).wires, wire) && !contains(column.over, wire))
      verdict.recomputed.push_back(column.output);
  return verdict;
}

std::vector<ArrayId> first_uses(const std::vector<ArrayId>& all) {
  std::vector<ArrayId> once;
  for (const auto array : all)
    if (std::ranges::find(once, array) == once.end()) once.push_back(array);
  return once;
}

std::variant<Streamable, Refused> stream_verdict(const Derivation& derivation, WireId wire) {
  Diagram scratch = derivation.scratch;
  auto result = absorb(scratch, derivation.columns, wire, {derivation.outputs.begin(), derivation.outputs.end()});
  if (auto* refused = std::get_if<Refused>(&result)) return *refused;
  auto& absorbed = std::get<Absorbed>(result);
  auto& programs = absorbed.programs;
  programs.before = std::move(absorbed.before);
  std::vector<ArrayId> used = programs.other;
  for (const auto* list :
       {&programs.before, &programs.init, &programs.piece, &programs.absorb, &programs.merge, &programs.finish})
    for (const auto& column : *list) used.push_back(column.output);
  for (const auto& step : programs.trace)
    for (const auto e : {step.before, step.after})
      for (const auto array : arrays_read(scratch, e)) used.push_back(array);
  settle_names(scratch, derivation.file_arrays, first_uses(used));
  // A state may have the same name as its sum; then the step would show nothing.
  std::erase_if(programs.trace, [&](const Rewriting& step) {
    return step.rule != Rule::prefix && to_short_text(scratch, step.before) == to_short_text(scratch, step.after);
  });
  programs.scratch = std::move(scratch);
  return std::move(programs);
}

}  // namespace

std::string_view code(Rule rule) {
  constexpr std::array<std::string_view, 9> codes = {"S1", "S2", "S3", "S4", "S5", "S6", "S9", "cast", "moments"};
  return codes[static_cast<std::size_t>(rule)];
}

const Verdict* Derivation::find(WireId wire) const {
  const auto found = std::ranges::find_if(verdicts, [&](const Verdict& v) { return v.wire == wire; });
  return found == verdicts.end() ? nullptr : &*found;
}

std::vector<ArrayId> outputs_of(const Diagram& diagram, std::span<const StatementId> statements) {
  std::set<ArrayId> wanted(diagram.outputs.begin(), diagram.outputs.end());
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i)
    if (std::ranges::find(statements, StatementId{i}) == statements.end())
      for (const auto array : arrays_read(diagram, diagram.statements[i].value)) wanted.insert(array);
  std::vector<ArrayId> all;
  for (const auto id : statements)
    if (wanted.contains(diagram.at(id).output)) all.push_back(diagram.at(id).output);
  return all;
}

Derivation derive(const Diagram& diagram, std::span<const StatementId> statements) {
  return derive(diagram, statements, outputs_of(diagram, statements));
}

Derivation derive(const Diagram& diagram, std::span<const StatementId> statements, std::vector<ArrayId> outputs) {
  Derivation derivation;
  derivation.statements.assign(statements.begin(), statements.end());
  derivation.scratch = diagram;
  derivation.file_arrays = diagram.arrays.size();
  derivation.columns = columns_of(derivation.scratch, derivation.statements, derivation.trace);
  derivation.outputs = std::move(outputs);
  const std::set<ArrayId> needed(derivation.outputs.begin(), derivation.outputs.end());
  drop_unused(derivation.scratch, derivation.columns, needed);
  std::vector<ArrayId> made;
  for (const auto& column : derivation.columns) made.push_back(column.output);
  settle_names(derivation.scratch, derivation.file_arrays, first_uses(made));
  derivation.inputs = inputs_of(derivation);
  for (const auto wire : wires_in_order(derivation)) {
    auto stream = stream_verdict(derivation, wire);
    auto group = group_verdict(derivation, wire, stream);
    const int sweeps = passes(derivation.scratch, derivation.columns, wire, needed);
    derivation.verdicts.push_back({wire, std::move(group), std::move(stream), sweeps});
  }
  return derivation;
}

std::string to_text(const Diagram& scratch, const Column& column) {
  const auto& name = scratch.at(column.output).name;
  const auto value = to_short_text(scratch, column.value);
  if (!column.fold) return fmt::format("{} = {}", name, value);
  std::string over;
  for (const auto wire : column.over) over += (over.empty() ? "" : ", ") + scratch.at(wire).name;
  const auto folded = fmt::format("{}[{}]({})", column.fold->name, over, value);
  if (!column.carried) return fmt::format("{} = {}", name, folded);
  const auto& old = scratch.at(*column.carried).name;
  const auto repaired = column.repair ? fmt::format("{} * {}", to_short_text(scratch, *column.repair), old) : old;
  if (column.fold->combine->precedence == 0)
    return fmt::format("{} = {}({}, {})", name, column.fold->combine->name, repaired, folded);
  return fmt::format("{} = {} {} {}", name, repaired, column.fold->combine->name, folded);
}

}  // namespace napkin
