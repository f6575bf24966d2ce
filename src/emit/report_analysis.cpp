// Analysis -> Document: the report of `analyze`, section by section.
//
// A kernel's sections stand in the order in which one asks: what may be split, how it is split, what moves and stays,
// what is computed, what that means for the time, what the other choices were.
#include "emit/report_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "emit/report_quantity.hpp"
#include "emit/report_words.hpp"

namespace napkin::report {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// A level's memory in the unit that its capacity is given in.
struct Memory {
  double exact, ideal;
  std::string (*words)(double);
};
Memory memory_of(const Hardware& hardware, const LevelCost& cost) {
  if (hardware.levels[cost.level].in_values) {
    return {static_cast<double>(cost.memory_values), static_cast<double>(cost.ideal_memory_values), values};
  }
  return {static_cast<double>(cost.memory_bytes), static_cast<double>(cost.ideal_memory_bytes), held};
}

std::string sizes_text(const Diagram& diagram) {
  std::vector<std::string> words;
  for (const auto& wire : diagram.wires) {
    const auto size = diagram.at(wire.axis).size;
    words.push_back(wire.name + " " + (size ? std::to_string(*size) : "?"));
  }
  return join(words);
}

// "group q 128, stream x 64", level by level.
Rows partition_rows(const Analysis& analysis, const Candidate& candidate) {
  Rows rows;
  for (const auto& level : candidate.cost.levels) {
    Partition at;
    for (const auto& split : candidate.kernel.partition.splits) {
      if (split.level == level.level) at.splits.push_back(split);
    }
    auto words = napkin::to_text(at, candidate.kernel.derivation->scratch, analysis.hardware);
    words = at.splits.empty() ? "whole" : words.substr(0, words.rfind(" at "));
    const auto& machine = analysis.hardware.levels[level.level];
    const bool found = std::count(analysis.completed_levels.begin(), analysis.completed_levels.end(), level.level);
    rows.push_back({machine.name, words,
                    fmt::format("{} of {} each", level.groups_per_parent,
                                level.groups_per_parent == 1 ? machine.unit : machine.unit + "s"),
                    found ? "found by the search" : ""});
  }
  return rows;
}

Table level_table(const Analysis& analysis, const KernelCost& cost) {
  Table table{{{"level"},
               {"from"},
               {"moved", true},
               {"values", true},
               {"memory", true},
               {"ideal", true},
               {"capacity", true},
               {"used"},
               {"ideal time", true},
               {"time", true}},
              {}};
  for (const auto& level : cost.levels) {
    const auto memory = memory_of(analysis.hardware, level);
    const double used = analysis.goal.model == Model::ideal ? memory.ideal : memory.exact;
    const double room = level.capacity.value_or(0);
    table.rows.push_back({analysis.hardware.levels[level.level].name, analysis.hardware.levels[level.level - 1].name,
                          moved(static_cast<double>(level.transfer_bytes)),
                          counted(static_cast<double>(level.transfer_values)), memory.words(memory.exact),
                          memory.words(memory.ideal), level.capacity ? memory.words(room) : "-",
                          level.capacity ? bar(used, room) + " " + share(used, room) : "-", lasting(level.ideal_time_s),
                          lasting(level.time_s)});
  }
  return table;
}

Table array_table(const Analysis& analysis, const KernelCost& cost) {
  Table table{{{"array"}, {"into"}, {"moved", true}, {"values", true}, {"times", true}, {""}}, {}};
  for (const auto& level : cost.levels) {
    const auto& name = analysis.hardware.levels[level.level].name;
    for (const auto& array : level.arrays) {
      table.rows.push_back(
          {array.array, array.saved ? "from " + name : name, moved(static_cast<double>(array.transfer_bytes)),
           counted(static_cast<double>(array.transfer_values)), ratio(array.times), array.saved ? "written" : "read"});
    }
  }
  return table;
}

Rows held_rows(const Analysis& analysis, const KernelCost& cost) {
  Rows rows;
  for (const auto& level : cost.levels) {
    std::vector<std::string> words;
    const bool in_values = analysis.hardware.levels[level.level].in_values;
    for (const auto& array : level.held) {
      words.push_back(
          array.array + " " +
          (in_values ? counted(static_cast<double>(array.values)) : held(static_cast<double>(array.bytes))));
    }
    if (!words.empty()) rows.push_back({analysis.hardware.levels[level.level].name + " holds", join(words)});
  }
  return rows;
}

Table unit_table(const KernelCost& cost) {
  Table table{{{"unit"}, {"operations", true}, {"ideal time", true}, {"time", true}, {"of the time", true}}, {}};
  for (const auto& unit : cost.units) {
    const bool both = unit.time_s && cost.time_s;
    table.rows.push_back({std::string(name(unit.unit)), counted(unit.operations), lasting(unit.ideal_time_s),
                          lasting(unit.time_s), both ? share(*unit.time_s, *cost.time_s) : "-"});
  }
  return table;
}

Rows closed_form_rows(const KernelCost& cost) {
  const auto& form = cost.closed_form;
  Rows rows;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) rows.push_back({name, text});
  };
  add("H  =", form.H);
  add("M  =", form.M);
  add("H* =", form.H_star);
  if (!form.dropped.empty()) add("", "to leading order; M there leaves out " + join(form.dropped));
  if (form.bound_values && !cost.levels.empty()) {
    const auto here = static_cast<double>(cost.levels.front().transfer_values);
    add("bound", fmt::format("{} values at this capacity; this partition moves {}, {} times as many",
                             counted(*form.bound_values), counted(here), ratio(here / *form.bound_values)));
  }
  return rows;
}

std::string time_text(const KernelCost& cost) {
  if (!cost.time_s && !cost.ideal_time_s) return "no times: the profile has no rates";
  const double operations = std::accumulate(cost.units.begin(), cost.units.end(), 0.0,
                                            [](double sum, const UnitCost& unit) { return sum + unit.operations; });
  std::string text = fmt::format("{} on the machine, {} ideally", lasting(cost.time_s), lasting(cost.ideal_time_s));
  if (cost.time_s && *cost.time_s > 0) text += "; " + rate(operations / *cost.time_s, "op/s");
  if (cost.energy_j) text += "; " + energy(*cost.energy_j);
  if (!cost.bound_by.empty()) text += "; bound by " + cost.bound_by;
  return text;
}

Table ranking(const Analysis& analysis, const std::vector<Candidate>& best) {
  Table table{
      {{"#", true}, {"time", true}, {"moved", true}, {"memory", true}, {"bound by"}, {"partition", false, true}}, {}};
  for (std::size_t i = 0; i < best.size(); ++i) {
    const auto& [kernel, cost] = best[i];
    const auto* level = cost.levels.empty() ? nullptr : &cost.levels.front();
    const auto memory = level ? memory_of(analysis.hardware, *level) : Memory{0, 0, held};
    table.rows.push_back({std::to_string(i + 1), lasting(cost.time_s),
                          level ? moved(static_cast<double>(level->transfer_bytes)) : "-", memory.words(memory.exact),
                          cost.bound_by,
                          napkin::to_text(kernel.partition, kernel.derivation->scratch, analysis.hardware)});
  }
  return table;
}

Rows overrun_rows(const Analysis& analysis, const KernelCost& cost) {
  Rows rows;
  for (const auto& overrun : cost.overruns) rows.push_back({overrun_text(analysis.hardware, overrun)});
  return rows;
}

void add(Document& made, const std::string& title, Table table) {
  if (table.rows.empty()) return;
  made.blocks.push_back(Heading{3, title, ""});
  made.blocks.push_back(std::move(table));
}

Table words(Rows rows) { return {{{""}, {"", false, true}}, std::move(rows)}; }

void add_candidate(Document& made, const Analysis& analysis, const Candidate& candidate) {
  const auto& [kernel, cost] = candidate;
  const auto partition = napkin::to_text(kernel.partition, kernel.derivation->scratch, analysis.hardware);
  made.blocks.push_back(Heading{3, "Partition", ""});
  made.blocks.push_back(Paragraph{partition.empty() ? "everything whole" : partition});
  made.blocks.push_back(Table{{{""}, {"", false, true}, {""}, {""}}, partition_rows(analysis, candidate)});
  add(made, "Levels", level_table(analysis, cost));
  add(made, "Memory at its largest", words(held_rows(analysis, cost)));
  add(made, "Arrays", array_table(analysis, cost));
  add(made, "Units", unit_table(cost));
  add(made, "Closed forms", words(closed_form_rows(cost)));
  made.blocks.push_back(Heading{3, "Time", ""});
  made.blocks.push_back(Paragraph{time_text(cost)});
}

std::string search_text(const Found& found, double seconds) {
  if (found.candidates == 0) return "";
  auto text = fmt::format("{} candidates, {} evaluated; {}", found.candidates, found.evaluated,
                          found.optimal ? "proven best" : "best found, not proven");
  if (!found.space.empty()) text += " among " + found.space;
  if (seconds > 0) text += "; " + lasting(seconds);
  return text;
}

void add_kernel(Document& made, const Analysis& analysis, const Found& found) {
  const auto* shown = !found.best.empty() ? &found.best.front() : found.nearest ? &*found.nearest : nullptr;
  if (!shown) return;
  const auto& cost = shown->cost;
  auto aside = cost.time_s ? lasting(cost.time_s) : "";
  if (!cost.bound_by.empty()) aside += (aside.empty() ? "" : ", ") + ("bound by " + cost.bound_by);
  if (!cost.overruns.empty()) aside = "does not fit";
  made.blocks.push_back(Heading{2, "kernel " + join(statement_names(*shown->kernel.derivation)), aside});
  add(made, "What may be split", verdict_table(*shown->kernel.derivation, false));
  add(made, found.best.empty() ? "What does not fit, in the nearest partition" : "What does not fit",
      Table{{{"", false, true}}, overrun_rows(analysis, cost)});
  add_candidate(made, analysis, *shown);
  if (found.best.size() > 1) add(made, fmt::format("The best {}", found.best.size()), ranking(analysis, found.best));
  const auto search = search_text(found, analysis.seconds);
  if (!search.empty()) {
    made.blocks.push_back(Heading{3, "Search", ""});
    made.blocks.push_back(Paragraph{search});
  }
}

constexpr const char* objective_words[] = {"time", "transfers", "energy"};

}  // namespace

Document document(const Analysis& analysis) {
  Document made;
  const auto& [diagram, hardware] = std::tie(analysis.diagram, analysis.hardware);
  made.blocks.push_back(Heading{1, fmt::format("{} on {}", diagram.name, hardware.name), hardware.description});
  Rows rows{
      {"sizes", sizes_text(diagram)},
      {"model", analysis.goal.model == Model::ideal ? "ideal: levels with capacity and bandwidth alone" : "machine"},
      {"objective", objective_words[static_cast<std::size_t>(analysis.goal.objective)]}};
  if (analysis.by_hand) rows.push_back({"partition", *analysis.by_hand});
  made.blocks.push_back(words(std::move(rows)));
  for (const auto& found : analysis.kernels) add_kernel(made, analysis, found);
  return made;
}

}  // namespace napkin::report
