// Makes the document of `analyze` from an analysis, section by section.
//
// The sections of a kernel follow the order of a reader's questions: what may be split, how it is split, what moves and
// what is held, what is computed, how long that takes, and what the alternatives are.
#include "report/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/closed_form.hpp"
#include "report/configuration.hpp"
#include "report/explored.hpp"
#include "report/plan.hpp"
#include "report/quantity.hpp"
#include "report/shared.hpp"
#include "report/tables.hpp"
#include "report/words.hpp"

namespace napkin::report {
namespace {

void add(Document& made, const std::string& title, Table table) {
  if (table.rows.empty()) return;
  made.blocks.push_back(Heading{3, title, ""});
  made.blocks.push_back(std::move(table));
}

void add(Document& made, const std::string& title, const std::string& words) {
  if (words.empty()) return;
  made.blocks.push_back(Heading{3, title, ""});
  made.blocks.push_back(Paragraph{words});
}

double operations(const KernelCost& cost) {
  return std::accumulate(cost.units.begin(), cost.units.end(), 0.0,
                         [](double sum, const UnitCost& unit) { return sum + unit.operations; });
}

std::string time_text(const KernelCost& cost, const Hardware& hardware) {
  if (!cost.time_s && !cost.ideal_time_s) return "unknown: the profile has no rates";
  auto text = fmt::format("{} predicted; {} at datasheet rates, fully overlapped, without a cache",
                          lasting(cost.time_s), lasting(cost.ideal_time_s));
  if (cost.time_s && *cost.time_s > 0)
    text += fmt::format("; {} of all operations executed", rate(operations(cost) / *cost.time_s, "FLOP/s"));
  if (cost.energy_j) text += "; " + energy(*cost.energy_j);
  if (cost.energy_j && cost.time_s && *cost.time_s > 0)
    text += ", " + power_text(*cost.energy_j / *cost.time_s, hardware);
  if (!cost.bound_by.empty()) text += "; bound by " + bound_text(cost.bound_by, cost.bound_from);
  return text;
}

std::string search_text(const Found& found, double seconds) {
  if (found.candidates == 0) return "";
  const auto* verdict = found.best.empty() ? "none fits" : found.optimal ? "proven best" : "best found, not proven";
  auto text = fmt::format("{} candidates, {} evaluated; {}", counted(static_cast<double>(found.candidates)),
                          counted(static_cast<double>(found.evaluated)), verdict);
  if (!found.space.empty()) text += " among " + found.space;
  if (seconds > 0) text += "; " + lasting(seconds);
  return text;
}

Rows overrun_rows(const Hardware& hardware, const KernelCost& cost) {
  Rows rows;
  for (const auto& overrun : cost.overruns) rows.push_back({overrun_text(hardware, overrun)});
  return rows;
}

// The verdict in the margin of a kernel's heading.
std::string verdict_text(const KernelCost& cost) {
  if (!cost.overruns.empty()) return "does not fit";
  if (!cost.time_s) return "";
  return lasting(cost.time_s) +
         (cost.bound_by.empty() ? "" : ", bound by " + bound_text(cost.bound_by, cost.bound_from));
}

void add_numbers(Document& made, const Analysis& analysis, std::size_t index, const Candidate& candidate,
                 const Configuration* configured = nullptr) {
  const auto& [kernel, cost] = candidate;
  const auto partition = napkin::to_text(kernel.partition, kernel.derivation->scratch, analysis.hardware);
  add(made, "Partition", partition.empty() ? "everything whole" : partition);
  made.blocks.push_back(partition_table(analysis, index, candidate, configured));
  add(made, "Levels", level_table(analysis, cost));
  if (const auto words = level_words(analysis, cost, configured); !words.empty())
    made.blocks.push_back(Paragraph{words});
  add(made, "Memory at its peak", held_table(analysis, cost));
  add(made, "Arrays", array_table(analysis, cost));
  add(made, "Sectors", sector_table(analysis, cost));
  add(made, "Masks", mask_table(analysis, cost));
  add(made, "Units", unit_table(cost));
}

void add_kernel(Document& made, const Analysis& analysis, std::size_t index) {
  const auto& found = analysis.kernels[index];
  const auto& configuration = configuration_of(analysis, index);
  const auto* shown = reported(found);
  if (!shown) return;
  const auto& [kernel, cost] = *shown;
  made.blocks.push_back(Heading{2, "kernel " + kernel_name(analysis, index), verdict_text(cost)});
  add(made, "Which axes can be split", verdict_table(*kernel.derivation, false));
  add(made, found.best.empty() ? "What does not fit, in the nearest partition" : "What does not fit",
      Table{{{"", false, true}}, overrun_rows(analysis.hardware, cost)});
  if (!analysis.symbolic) add_numbers(made, analysis, index, *shown, configuration ? &*configuration : nullptr);
  if (analysis.symbolic) add(made, "Partition", shape_text(analysis, kernel));
  add(made, "Closed forms", Table{{{""}, {"", false, true}}, closed_form_rows(analysis.hardware, cost), true});
  if (analysis.symbolic) return;
  if (configuration) add_configuration(made, *configuration);
  add(made, "Time", time_text(cost, analysis.hardware));
  if (configuration && configuration->launch) add_launch(made, *configuration->launch);
  if (found.best.size() > 1)
    add(made, fmt::format("The best {}", found.best.size()), ranking_table(analysis, found.best));
  add(made, "Search", search_text(found, analysis.seconds));
  if (analysis.explored && analysis.explored->kernels.at(index))
    add_explored(made, *analysis.explored->kernels.at(index), analysis.hardware);
}

std::string sizes_text(const Diagram& diagram) {
  std::vector<std::string> words;
  for (const auto& wire : diagram.wires) {
    const auto size = diagram.at(wire.axis).size;
    words.push_back(wire.name + " " + (size ? std::to_string(*size) : "?"));
  }
  return join(words);
}

// For example "31.6 us in 1 kernel"; empty if a kernel does not fit, or if sizes are symbolic.
std::string result_text(const Analysis& analysis) {
  if (analysis.symbolic) return "";
  const auto sum = totals(analysis);
  if (!sum.time_s) return "";
  return fmt::format("{} in {} kernel{}", lasting(sum.time_s), analysis.kernels.size(),
                     analysis.kernels.size() == 1 ? "" : "s");
}

Table header_table(const Analysis& analysis) {
  constexpr const char* least[] = {"least time", "least transfers", "least energy"};
  const auto* model = analysis.goal.model == Model::ideal ? "ideal: only capacities and bandwidths" : "machine";
  Rows rows{{"sizes", sizes_text(analysis.diagram)},
            {"model", fmt::format("{}; {}", model, least[static_cast<std::size_t>(analysis.goal.objective)])}};
  if (analysis.by_hand) rows.push_back({"partition", *analysis.by_hand});
  if (const auto result = result_text(analysis); !result.empty()) rows.push_back({"result", result});
  if (const auto names = names_text(analysis); !names.empty()) rows.push_back({"names", names});
  return {{{""}, {"", false, true}}, std::move(rows)};
}

Cost cost_of(const Analysis& analysis) {
  Cost cost;
  for (const auto& candidate : chosen(analysis)) cost.kernels.push_back(candidate.cost);
  return cost;
}

}  // namespace

Scene lay_out(const Analysis& analysis, double width) {
  const auto plan = plan_of(analysis);
  if (analysis.symbolic || plan.kernels.empty()) return napkin::lay_out(analysis.diagram, width);
  return napkin::lay_out(analysis.diagram, plan, cost_of(analysis), analysis.hardware, analysis.goal.model, width,
                         analysis.configurations, kernel_names(analysis));
}

std::vector<Scene> lay_out_film(const Analysis& analysis, double width) {
  Written written;
  const bool reordered = analysis.plan && !analysis.plan->orders.empty();
  if (reordered || analysis.written.statements.size() != analysis.diagram.statements.size())
    written = {&analysis.written, changes(analysis)};
  return lay_out_derivation(analysis.diagram, plan_of(analysis), cost_of(analysis), analysis.hardware,
                            analysis.goal.model, width, analysis.configurations, written);
}

Charted charted(const Analysis& analysis) {
  Charted made{fmt::format("{} on {}", analysis.diagram.name, analysis.hardware.name),
               analysis.hardware,
               analysis.goal.model,
               {}};
  if (analysis.symbolic) return made;
  for (std::size_t i = 0; i < analysis.kernels.size(); ++i)
    if (const auto* shown = reported(analysis.kernels[i])) {
      made.kernels.push_back({shown->kernel, shown->cost, configuration_of(analysis, i), {}, kernel_name(analysis, i)});
      if (analysis.explored) made.kernels.back().explored = analysis.explored->kernels.at(i);
    }
  if (analysis.explored) made.sensitivity = analysis.explored->machine;
  return made;
}

// The statements of a division whose parts one of its kernels merges, as written.
std::vector<std::string> merged_by(const Analysis& analysis, const AxisDivision& division, std::size_t kernel) {
  const auto* shown = reported(analysis.kernels.at(kernel));
  auto names = division.statements;
  if (division.merges == 1 || !shown) return names;
  const auto here = statement_names(*shown->kernel.derivation);
  std::erase_if(names, [&](const std::string& name) { return std::ranges::count(here, name) == 0; });
  return names;
}

std::string kernel_name(const Analysis& analysis, std::size_t kernel) {
  if (analysis.plan)
    for (const auto& division : analysis.plan->divisions) {
      if (division.kernel == kernel) return join(division.statements) + " (parts)";
      if (division.has(kernel)) return join(merged_by(analysis, division, kernel)) + " (merge)";
    }
  const auto* shown = reported(analysis.kernels.at(kernel));
  return shown ? join(statement_names(*shown->kernel.derivation)) : "";
}

std::vector<std::string> kernel_names(const Analysis& analysis) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < analysis.kernels.size(); ++k)
    if (reported(analysis.kernels[k])) names.push_back(kernel_name(analysis, k));
  return names;
}

const std::optional<Configuration>& configuration_of(const Analysis& analysis, std::size_t kernel) {
  static const std::optional<Configuration> none;
  return kernel < analysis.configurations.size() ? analysis.configurations[kernel] : none;
}

void add_header(Document& made, const Analysis& analysis) {
  const auto title = fmt::format("{} on {}", analysis.diagram.name, analysis.hardware.name);
  made.blocks.push_back(Heading{1, title, analysis.hardware.description});
  made.blocks.push_back(header_table(analysis));
}

void add_picture(Document& made, const Analysis& analysis, double width) {
  made.blocks.push_back(Heading{2, "the diagram", ""});
  made.blocks.push_back(Picture{lay_out(analysis, width)});
}

void add_kernels(Document& made, const Analysis& analysis) {
  for (std::size_t i = 0; i < analysis.kernels.size(); ++i) add_kernel(made, analysis, i);
}

void add_plan(Document& made, const Analysis& analysis) {
  if (analysis.symbolic) return;
  const auto words = plan_text(analysis);
  const bool explored = analysis.explored && !analysis.explored->machine.improvements.empty();
  if (analysis.kernels.size() < 2 && words.empty() && !explored) return;
  made.blocks.push_back(Heading{2, "the whole plan", ""});
  if (analysis.kernels.size() > 1) made.blocks.push_back(totals_table(analysis));
  add(made, "Statements in several sweeps", sweeps_table(analysis));
  add(made, "Divided axes", division_table(analysis));
  add(made, "What fusing saves against a kernel for each statement", saved_table(analysis));
  add(made, "Search", words);
  if (explored) add_sensitivity(made, analysis.explored->machine);
}

Document explored_document(const Analysis& analysis) {
  Document made;
  if (!analysis.explored) return made;
  for (std::size_t i = 0; i < analysis.kernels.size(); ++i) {
    const auto* shown = reported(analysis.kernels[i]);
    const auto& explored = analysis.explored->kernels.at(i);
    if (!shown || !explored) continue;
    made.blocks.push_back(Heading{2, "around kernel " + kernel_name(analysis, i), verdict_text(shown->cost)});
    add_explored(made, *explored, analysis.hardware);
  }
  if (analysis.explored->machine.improvements.empty()) return made;
  made.blocks.push_back(Heading{2, "around the whole plan", ""});
  add_sensitivity(made, analysis.explored->machine);
  return made;
}

Document document(const Analysis& analysis, double picture_width) {
  Document made;
  add_header(made, analysis);
  add_picture(made, analysis, picture_width);
  add_kernels(made, analysis);
  add_plan(made, analysis);
  add_shared(made, analysis);
  return made;
}

}  // namespace napkin::report
