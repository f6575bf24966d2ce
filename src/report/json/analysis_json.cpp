// An analysis as `napkin.analysis/1`, with keys in the order of docs/json.md, and print() of an analysis.
#include <algorithm>
#include <set>

#include "report/analysis.hpp"
#include "report/closed_form.hpp"
#include "report/configuration.hpp"
#include "report/explored.hpp"
#include "report/json/json.hpp"
#include "report/orders/orders.hpp"
#include "report/page/summary_page.hpp"
#include "report/plan.hpp"
#include "report/shared.hpp"
#include "report/tables.hpp"
#include "report/words.hpp"

namespace napkin {
namespace report {
namespace {

Json sizes_json(const Diagram& diagram) {
  auto sizes = Json::object();
  for (const auto& wire : diagram.wires) {
    const auto size = diagram.at(wire.axis).size;
    sizes[wire.name] = size ? Json(*size) : Json(nullptr);
  }
  return sizes;
}

Json partition_json(const Analysis& analysis, const Kernel& kernel) {
  auto splits = Json::array();
  for (const auto& split : kernel.partition.splits) {
    splits.push_back({{"kind", split.kind == SplitKind::group ? "group" : "stream"},
                      {"axis", wire_name(*kernel.derivation, split.wire)},
                      {"size", analysis.symbolic ? Json(nullptr) : Json(split.size)},
                      {"level", analysis.hardware.levels[split.level].name}});
  }
  return splits;
}

std::string partition_text(const Analysis& analysis, const Kernel& kernel) {
  return analysis.symbolic ? shape_text(analysis, kernel)
                           : napkin::to_text(kernel.partition, kernel.derivation->scratch, analysis.hardware);
}

Json array_json(const ArrayCost& array) {
  return {{"array", array.array},
          {"transfer_bytes", array.transfer_bytes},
          {"transfer_values", array.transfer_values},
          {"times_read", array.saved ? 0.0 : array.times},
          {"times_written", array.saved ? array.times : 0.0},
          {"type", row(array.type).name}};
}

Json held_json(const HeldArray& array) {
  return {{"array", array.array}, {"bytes", array.bytes}, {"values", array.values}, {"type", row(array.type).name}};
}

template <class T>
Json list(const std::vector<T>& items, Json (*one)(const T&)) {
  auto all = Json::array();
  for (const auto& item : items) all.push_back(one(item));
  return all;
}

Json level_json(const Hardware& hardware, const LevelCost& cost) {
  const auto& level = hardware.levels[cost.level];
  const Json capacity = cost.capacity ? whole(*cost.capacity) : Json(nullptr);
  return {{"level", level.name},
          {"from", hardware.levels[cost.level - 1].name},
          {"transfer_values", cost.transfer_values},
          {"transfer_bytes", cost.transfer_bytes},
          {"memory_bytes", cost.memory_bytes},
          {"memory_values", cost.memory_values},
          {"memory_ideal_bytes", cost.ideal_memory_bytes},
          {"memory_ideal_values", cost.ideal_memory_values},
          {"capacity_bytes", level.in_values ? Json(nullptr) : capacity},
          {"capacity_values", level.in_values ? capacity : Json(nullptr)},
          {"groups", cost.groups},
          {"groups_per_parent", cost.groups_per_parent},
          {"together", cost.together},
          {"time_s", number(cost.time_s)},
          {"ideal_time_s", number(cost.ideal_time_s)},
          {"arrays", list(cost.arrays, array_json)},
          {"held", list(cost.held, held_json)},
          {"crossing_bytes", cost.crossing_bytes ? Json(*cost.crossing_bytes) : Json(nullptr)},
          {"sector_bytes", cost.sector_bytes ? Json(*cost.sector_bytes) : Json(nullptr)}};
}

Json masks_json(const Hardware& hardware, const KernelCost& cost) {
  auto all = Json::array();
  for (const auto& mask : cost.masks)
    all.push_back({{"level", hardware.levels[mask.level].name},
                   {"axis", mask.axis},
                   {"conditions", mask.conditions},
                   {"pieces_run", mask.run},
                   {"pieces", mask.all},
                   {"expected", mask.expected}});
  return all;
}

Json unit_json(const UnitCost& unit) {
  return {{"unit", name(unit.unit)},
          {"operations", whole(unit.operations)},
          {"time_s", number(unit.time_s)},
          {"ideal_time_s", number(unit.ideal_time_s)}};
}

// Lower bounds for every partition: the bound in values, each at least as wide as the narrowest array; and the bytes of
// all inputs and outputs, moved once.
Json lower_bound_json(const KernelCost& cost) {
  if (cost.levels.empty()) return {{"transfer_bytes", nullptr}, {"transfer_values", nullptr}};
  const auto& form = cost.closed_form;
  auto bytes = static_cast<double>(cost.compulsory_bytes);
  double narrowest = 0;
  for (const auto& array : cost.levels.front().arrays) {
    if (array.transfer_values == 0) continue;
    const auto width = static_cast<double>(array.transfer_bytes) / static_cast<double>(array.transfer_values);
    narrowest = narrowest == 0 ? width : std::min(narrowest, width);
  }
  if (form.bound_values) bytes = std::max(bytes, *form.bound_values * narrowest);
  return {{"transfer_bytes", whole(bytes)},
          {"transfer_values", number(form.bound_values)},
          {"every_program", number(cost.every_program.moved)},
          {"why", cost.every_program.why}};
}

Json overruns_json(const Hardware& hardware, const KernelCost& cost) {
  auto all = Json::array();
  for (const auto& overrun : cost.overruns) {
    const auto& level = hardware.levels[overrun.level];
    all.push_back({{"level", level.name},
                   {"what", overrun.what},
                   {"over", whole(overrun.over)},
                   {"unit", overrun.what == "groups"   ? "groups"
                            : overrun.what == "launch" ? "blocks"
                            : level.in_values          ? "values"
                                                       : "bytes"},
                   {"array", overrun.array}});
    if (!overrun.why.empty()) all.back()["why"] = overrun.why;
  }
  return all;
}

Json runner_up_json(const Analysis& analysis, const Candidate& candidate) {
  const auto& cost = candidate.cost;
  return {{"partition", partition_json(analysis, candidate.kernel)},
          {"time_s", number(cost.time_s)},
          {"ideal_time_s", number(cost.ideal_time_s)},
          {"energy_j", number(cost.energy_j)},
          {"transfer_bytes", cost.levels.empty() ? 0 : cost.levels.front().transfer_bytes},
          {"bound_by", cost.bound_by}};
}

Json kernel_facts(const Analysis& analysis, std::size_t index, const Candidate& shown) {
  const auto& found = analysis.kernels[index];
  const auto& configuration = configuration_of(analysis, index);
  const auto& [kernel, cost] = shown;
  auto levels = Json::array();
  for (const auto& level : cost.levels) levels.push_back(level_json(analysis.hardware, level));
  auto runners_up = Json::array();
  for (std::size_t i = 1; i < found.best.size(); ++i) runners_up.push_back(runner_up_json(analysis, found.best[i]));
  const auto explored = analysis.explored ? analysis.explored->kernels.at(index) : std::nullopt;
  return {{"statements", statement_names(*kernel.derivation)},
          {"partition", partition_json(analysis, kernel)},
          {"partition_text", partition_text(analysis, kernel)},
          {"groupable", groupable_json(*kernel.derivation)},
          {"streamable", streamable_json(*kernel.derivation)},
          {"refused", refused_json(*kernel.derivation)},
          {"levels", levels},
          {"masks", masks_json(analysis.hardware, cost)},
          {"units", list(cost.units, unit_json)},
          {"closed_form", closed_form_json(analysis.hardware, cost.closed_form)},
          {"lower_bound", lower_bound_json(cost)},
          {"bound_by", cost.bound_by},
          {"bound_from", cost.bound_from.empty() ? Json(nullptr) : Json(cost.bound_from)},
          {"ideal_time_s", number(cost.ideal_time_s)},
          {"time_s", number(cost.time_s)},
          {"energy_j", number(cost.energy_j)},
          {"fits", cost.overruns.empty()},
          {"overruns", overruns_json(analysis.hardware, cost)},
          {"runners_up", runners_up},
          {"configuration", configuration ? configuration_json(*configuration) : Json(nullptr)},
          {"front", explored ? front_json(explored->front, analysis.hardware) : Json(nullptr)},
          {"rooms", explored ? rooms_json(explored->rooms) : Json(nullptr)},
          {"pieces", explored ? pieces_json(explored->pieces) : Json(nullptr)}};
}

Json kernel_json(const Analysis& analysis, std::size_t index, const Candidate& shown, const page::Page& page) {
  auto json = kernel_facts(analysis, index, shown);
  const auto at = std::ranges::find(page.numbers, index + 1);
  if (at != page.numbers.end())
    json.update(page::summary_json(page.kernels[static_cast<std::size_t>(at - page.numbers.begin())]));
  return json;
}

Json totals_json(const Analysis& analysis) {
  const auto all = totals(analysis);
  const auto& limit = analysis.hardware.power_limit_watts;
  auto transfers = Json::object();
  for (const auto& [level, bytes] : all.transfer_bytes) transfers[level] = bytes;
  return {{"operations", analysis.symbolic ? Json(nullptr) : whole(all.operations)},
          {"transfer_bytes", transfers},
          {"ideal_time_s", number(all.ideal_time_s)},
          {"time_s", number(all.time_s)},
          {"energy_j", number(all.energy_j)},
          {"power_w", number(all.power_w())},
          {"power_limit_w", limit ? Json(limit->value) : Json(nullptr)}};
}

Json completed_json(const Analysis& analysis) {
  auto names = Json::array();
  std::set<std::size_t> levels;
  for (const auto& of_kernel : analysis.completed_levels) levels.insert(of_kernel.begin(), of_kernel.end());
  for (const auto level : levels) names.push_back(analysis.hardware.levels[level].name);
  return names;
}

// Counts of the plan's search. For a partition by hand, they are those of its kernels.
Json search_json(const Analysis& analysis) {
  std::int64_t candidates = 0, evaluated = 0;
  bool optimal = !analysis.kernels.empty();
  for (const auto& found : analysis.kernels) {
    candidates += found.candidates;
    evaluated += found.evaluated;
    optimal = optimal && found.optimal;
  }
  const bool cut = analysis.plan.has_value();
  if (cut) candidates = analysis.plan->candidates, evaluated = analysis.plan->evaluated;
  return {{"candidates", candidates},
          {"evaluated", evaluated},
          {"optimal", cut ? analysis.plan->optimal : optimal},
          {"seconds", analysis.seconds},
          {"cuts", cut ? Json(analysis.plan->cuts) : Json(nullptr)},
          {"plan_space", cut ? Json(analysis.plan->space) : Json(nullptr)},
          {"gap", cut && analysis.plan->gap ? number(*analysis.plan->gap) : Json(nullptr)}};
}

}  // namespace

std::string analysis_json(const Analysis& analysis) {
  auto kernels = Json::array();
  const auto first = analysis.symbolic ? page::Page() : page::page_of(analysis, std::nullopt);
  for (std::size_t i = 0; i < analysis.kernels.size(); ++i)
    if (const auto* shown = reported(analysis.kernels[i])) kernels.push_back(kernel_json(analysis, i, *shown, first));
  const Json json{{"schema", "napkin.analysis/1"},
                  {"napkin", NAPKIN_VERSION},
                  {"diagram", analysis.diagram.name},
                  {"target", analysis.hardware.name},
                  {"model", analysis.goal.model == Model::ideal ? "ideal" : "machine"},
                  {"sizes", sizes_json(analysis.diagram)},
                  {"kernels", kernels},
                  {"totals", totals_json(analysis)},
                  {"search", search_json(analysis)},
                  {"partition", as_partition(analysis) ? Json(*as_partition(analysis)) : Json(nullptr)},
                  {"by_hand", analysis.by_hand ? Json(*analysis.by_hand) : Json(nullptr)},
                  {"completed_levels", completed_json(analysis)},
                  {"saved", saved_json(analysis)},
                  {"sweeps", sweeps_json(analysis)},
                  {"orders", analysis.plan ? orders_json(analysis.plan->orders) : Json::array()},
                  {"refused_orders", analysis.plan ? orders_json(analysis.plan->refused_orders) : Json::array()},
                  {"prefixes", prefixes_json(analysis)},
                  {"divisions", divisions_json(analysis)},
                  {"sensitivity", analysis.explored ? sensitivity_json(analysis.explored->machine) : Json(nullptr)},
                  {"sharing", shared_json(analysis)},
                  {"summary", analysis.symbolic ? Json(nullptr) : page::summary_json(first)}};
  return json.dump(2) + "\n";
}

}  // namespace report

// A symbolic analysis has formulas and no numbers, so only the details are printed.
std::string print(const Analysis& analysis, Format format, bool color, const View& view) {
  if (format == Format::json) return report::analysis_json(analysis);
  if (format == Format::html) return report::to_html(report::page_document(analysis));
  constexpr double line = 720;
  const bool page = !analysis.symbolic;
  const auto first = page ? page::page_text(page::page_of(analysis, view.kernel), color && format == Format::text) : "";
  report::Document document;
  if (page && format == Format::markdown) document.blocks.push_back(report::Verbatim{first});
  const auto rest = !page || view.details ? report::document(analysis, line) : report::explored_document(analysis);
  document.blocks.insert(document.blocks.end(), rest.blocks.begin(), rest.blocks.end());
  if (format == Format::markdown) return report::to_markdown(document);
  const auto more = document.blocks.empty() ? "" : report::to_text(document, color);
  return first + (first.empty() || more.empty() ? "" : "\n") + more;
}

}  // namespace napkin
