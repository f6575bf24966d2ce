// Derivations in words: columns as assignments, and verdicts as rows of a table.
#include "report/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/quantity.hpp"

namespace napkin::report {
namespace {

std::vector<std::string> unique(const std::vector<std::string>& names) {
  std::vector<std::string> once;
  for (const auto& name : names) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(name);
  }
  return once;
}

// The statements whose result has the wire, and the arrays that every group must compute again.
std::string weave(const Derivation& derivation, const Verdict& verdict, const Groupable& group) {
  std::vector<std::string> woven;
  for (const auto id : derivation.statements) {
    const auto& array = derivation.scratch.at(derivation.scratch.at(id).output);
    if (std::find(array.wires.begin(), array.wires.end(), verdict.wire) != array.wires.end())
      woven.push_back(array.name);
  }
  std::string text = woven.empty() ? "woven" : "woven through " + join_and(woven);
  if (!group.recomputed.empty()) {
    const auto again = array_names(derivation.scratch, group.recomputed);
    text += fmt::format("; every group computes {} again", join_and(unique(again)));
  }
  return text;
}

void add_programs(Table& table, const Streamable& stream) {
  const std::pair<std::string, const std::vector<Column>&> programs[] = {
      {"before", stream.before}, {"init", stream.init},   {"piece", stream.piece},
      {"absorb", stream.absorb}, {"merge", stream.merge}, {"finish", stream.finish}};
  for (const auto& [name, columns] : programs) {
    const auto lines = program_lines(stream.scratch, columns);
    if (!lines.empty()) table.rows.push_back({"", name, join(lines, "\n"), ""});
  }
  for (const auto& note : stream.notes) table.rows.push_back({"", "note", note, ""});
}

// Prints one row if group and stream are refused for the same reason.
void add_refusals(Table& table, const Verdict& verdict) {
  const auto* group = std::get_if<Refused>(&verdict.group);
  const auto* stream = std::get_if<Refused>(&verdict.stream);
  const bool same = group && stream && group->reason == stream->reason;
  if (same) table.rows.push_back({"", "neither", refusal(*group), ""});
  if (group && !same) table.rows.push_back({"", "no group", refusal(*group), ""});
  if (stream && !same) table.rows.push_back({"", "no stream", refusal(*stream), ""});
}

void add_verdict(Table& table, const Derivation& derivation, const Verdict& verdict, bool with_programs) {
  const auto name = wire_name(derivation, verdict.wire);
  const auto* group = verdict.groupable();
  const auto* stream = streams(verdict);
  const bool merges = verdict.is_merged();
  const bool stateless = stream && stream->state.empty();
  const auto first = table.rows.size();
  if (group && !merges) {
    table.rows.push_back({"", stateless ? "group, stream" : "group", weave(derivation, verdict, *group), "S1"});
  }
  if (stream && !stateless) {
    table.rows.push_back({"", "stream",
                          "carried " + state(*stream) + (merges ? "; can group too, by merging states" : "") +
                              (stream->in_order ? "; one position after another" : ""),
                          rules(*stream)});
    if (with_programs) add_programs(table, *stream);
  }
  add_refusals(table, verdict);
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

// Omits a cast of a finished value to its declared type, which would read `O = O`.
std::vector<std::string> program_lines(const Diagram& scratch, const std::vector<Column>& columns) {
  std::vector<std::string> lines;
  for (const auto& column : columns) {
    const auto& name = scratch.at(column.output).name;
    if (auto line = napkin::to_text(scratch, column); line != name + " = " + name) lines.push_back(std::move(line));
  }
  return lines;
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

std::string_view combine_name(const Carried& carried) { return carried.combine ? carried.combine->name : "mean"; }

std::string refusal(const Refused& refused) {
  return refused.mend.empty() ? refused.reason : refused.reason + "; " + refused.mend;
}

std::string state(const Streamable& stream) {
  std::vector<std::string> names;
  for (const auto& carried_array : stream.state) {
    names.push_back(fmt::format("{} ({})", stream.scratch.at(carried_array.array).name, combine_name(carried_array)));
  }
  return join(names);
}

std::string rules(const Streamable& stream) {
  std::vector<std::string> names;
  for (const auto rule : stream.rules) names.emplace_back(code(rule));
  return join(names, " ");
}

std::string overrun_text(const Hardware& hardware, const Overrun& overrun) {
  const auto& level = hardware.levels[overrun.level];
  if (overrun.what == "groups") return fmt::format("{}: {} groups too many at once", level.name, counted(overrun.over));
  if (overrun.what == "launch") return fmt::format("{}: no block can run: {}", level.name, overrun.why);
  const auto over = level.in_values ? values(overrun.over) : held(overrun.over);
  if (overrun.level == 0) return fmt::format("{}: all arrays together are {} over", level.name, over);
  const auto* who = overrun.what == "memory" ? "" : "all groups that share it together are ";
  return fmt::format("{}: {}{} over; most of it is {}", level.name, who, over, overrun.array);
}

std::string bound_text(const std::string& by, const std::string& from) {
  return from.empty() ? by : fmt::format("transfers from {} to {}", from, by);
}

Table verdict_table(const Derivation& derivation, bool with_programs) {
  Table table{{{"axis"}, {"can"}, {"how, or why not", false, true}, {"rules"}}, {}};
  for (const auto& verdict : derivation.verdicts) add_verdict(table, derivation, verdict, with_programs);
  return table;
}

}  // namespace napkin::report
