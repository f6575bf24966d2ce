// Derivations in words: columns as assignments, verdicts as rows of a table.
#include "emit/report_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace napkin::report {
namespace {

std::string program_text(const Diagram& scratch, const std::vector<Column>& columns) {
  std::vector<std::string> lines;
  for (const auto& column : columns) lines.push_back(napkin::to_text(scratch, column));
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

void add_programs(Table& table, const Streamable& stream) {
  const std::pair<std::string, const std::vector<Column>&> programs[] = {{"before", stream.before},
                                                                         {"init", stream.init},
                                                                         {"piece", stream.piece},
                                                                         {"absorb", stream.absorb},
                                                                         {"merge", stream.merge},
                                                                         {"finish", stream.finish}};
  for (const auto& [name, columns] : programs) {
    if (!columns.empty()) table.rows.push_back({"", name, program_text(stream.scratch, columns), ""});
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
                          "carried " + state(*stream) + (merges ? "; group too, by merge" : ""),
                          rules(*stream)});
    if (with_programs) add_programs(table, *stream);
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

std::string state(const Streamable& stream) {
  std::vector<std::string> names;
  for (const auto& carried_array : stream.state) {
    names.push_back(fmt::format("{} ({})", stream.scratch.at(carried_array.array).name, carried_array.combine->name));
  }
  return join(names);
}

std::string rules(const Streamable& stream) {
  std::vector<std::string> names;
  for (const auto rule : stream.rules) names.emplace_back(code(rule));
  return join(names, " ");
}

Table verdict_table(const Derivation& derivation, bool with_programs) {
  Table table{{{"axis"}, {"can"}, {"how, or why not", false, true}, {"rules"}}, {}};
  for (const auto& verdict : derivation.verdicts) add_verdict(table, derivation, verdict, with_programs);
  return table;
}

}  // namespace napkin::report
