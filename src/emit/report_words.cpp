// Derivations in words: columns as assignments, verdicts as rows of a table.
#include "emit/report_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace napkin::report {
namespace {

std::vector<std::string> wire_names(const Diagram& diagram, const std::vector<WireId>& wires) {
  std::vector<std::string> names;
  for (const auto wire : wires) names.push_back(diagram.at(wire).name);
  return names;
}

std::string indexed(const Diagram& diagram, ArrayId id) {
  const auto& array = diagram.at(id);
  return array.wires.empty() ? array.name : fmt::format("{}[{}]", array.name, join(wire_names(diagram, array.wires)));
}

// "a + b" where the function is an operator, else "max(a, b)".
std::string combined(const Pointwise& function, const std::string& a, const std::string& b) {
  return function.precedence ? fmt::format("{} {} {}", a, function.name, b)
                             : fmt::format("{}({}, {})", function.name, a, b);
}

std::string folded(const Diagram& scratch, const Column& column) {
  const auto value = to_text(scratch, column.value);
  if (!column.fold || column.over.empty()) return value;
  return fmt::format("{}[{}]({})", column.fold->name, join(wire_names(scratch, column.over)), value);
}

// The old value of the carried array, repaired where it must be.
std::string carried(const Diagram& scratch, const Column& column) {
  const auto name = indexed(scratch, *column.carried);
  return column.repair ? combined(*find_pointwise("*"), to_text(scratch, *column.repair), name) : name;
}

std::string program_text(const Diagram& scratch, const std::vector<Column>& columns) {
  std::vector<std::string> lines;
  for (const auto& column : columns) lines.push_back(to_text(scratch, column));
  return join(lines, "\n");
}

// The statements whose result has the wire, and those that every group must compute again.
std::string weave(const Derivation& derivation, const Verdict& verdict, const Groupable& group) {
  std::vector<std::string> woven;
  for (const auto id : derivation.statements) {
    const auto& array = derivation.scratch.at(derivation.scratch.at(id).output);
    if (std::find(array.wires.begin(), array.wires.end(), verdict.wire) != array.wires.end()) woven.push_back(array.name);
  }
  std::string text = woven.empty() ? "woven" : "woven through " + join_and(woven);
  if (!group.recomputed.empty()) {
    const auto again = array_names(derivation.scratch, group.recomputed);
    text += fmt::format("; every group computes {} again", join_and(again));
  }
  return text;
}

void add_programs(Table& table, const Diagram& scratch, const Streamable& stream) {
  const std::pair<std::string, const std::vector<Column>&> programs[] = {{"init", stream.init},
                                                                         {"piece", stream.piece},
                                                                         {"absorb", stream.absorb},
                                                                         {"merge", stream.merge},
                                                                         {"finish", stream.finish}};
  for (const auto& [name, columns] : programs) {
    if (!columns.empty()) table.rows.push_back({"", name, program_text(scratch, columns), ""});
  }
  for (const auto& note : stream.notes) table.rows.push_back({"", "note", note, ""});
}

void add_verdict(Table& table, const Derivation& derivation, const Verdict& verdict, bool with_programs) {
  const auto name = wire_name(derivation, verdict.wire);
  const auto* group = std::get_if<Groupable>(&verdict.group);
  const auto* stream = streams(verdict);
  const bool merges = group && group->by_merge;
  const bool stateless = stream && stream->state.empty();
  const auto first = table.rows.size();
  if (group && !merges) {
    table.rows.push_back({"", stateless ? "group, stream" : "group", weave(derivation, verdict, *group), "S1"});
  }
  if (stream && !stateless) {
    table.rows.push_back({"", "stream",
                          "carried " + state(derivation.scratch, *stream) + (merges ? "; group too, by merge" : ""),
                          rules(*stream)});
    if (with_programs) add_programs(table, derivation.scratch, *stream);
  }
  if (!group) table.rows.push_back({"", "no group", std::get<Refused>(verdict.group).reason, ""});
  if (!stream) table.rows.push_back({"", "no stream", std::get<Refused>(verdict.stream).reason, ""});
  if (verdict.passes > 1) {
    table.rows.push_back({"", "passes", fmt::format("{} sweeps over {} are needed", verdict.passes, name), ""});
  }
  if (table.rows.size() > first) table.rows[first][0] = name;
}

}  // namespace

std::string join(const std::vector<std::string>& words, const std::string& between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::string join_and(const std::vector<std::string>& words) {
  if (words.size() < 2) return join(words);
  return join({words.begin(), words.end() - 1}) + " and " + words.back();
}

std::vector<std::string> statement_names(const Derivation& derivation) {
  std::vector<std::string> names;
  for (const auto id : derivation.statements) {
    names.push_back(derivation.scratch.at(derivation.scratch.at(id).output).name);
  }
  return names;
}

std::vector<std::string> array_names(const Diagram& diagram, const std::vector<ArrayId>& arrays) {
  std::vector<std::string> names;
  for (const auto id : arrays) names.push_back(diagram.at(id).name);
  return names;
}

std::string wire_name(const Derivation& derivation, WireId wire) { return derivation.scratch.at(wire).name; }

bool groups(const Verdict& verdict) { return std::holds_alternative<Groupable>(verdict.group); }

const Streamable* streams(const Verdict& verdict) { return std::get_if<Streamable>(&verdict.stream); }

std::string state(const Diagram& scratch, const Streamable& stream) {
  std::vector<std::string> names;
  for (const auto& carried_array : stream.state) {
    names.push_back(fmt::format("{} ({})", scratch.at(carried_array.array).name, carried_array.combine->name));
  }
  return join(names);
}

std::string rules(const Streamable& stream) {
  std::vector<std::string> names;
  for (const auto rule : stream.rules) names.emplace_back(code(rule));
  return join(names, " ");
}

std::string to_text(const Diagram& scratch, const Column& column) {
  auto value = folded(scratch, column);
  if (column.carried) value = combined(*column.fold->combine, carried(scratch, column), value);
  return fmt::format("{} = {}", indexed(scratch, column.output), value);
}

Table verdict_table(const Derivation& derivation, bool with_programs) {
  Table table{{{"axis"}, {"can"}, {"how, or why not", false, true}, {"rules"}}, {}};
  for (const auto& verdict : derivation.verdicts) add_verdict(table, derivation, verdict, with_programs);
  return table;
}

}  // namespace napkin::report
