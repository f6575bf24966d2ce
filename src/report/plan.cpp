// Prints the rows of a plan, and a sentence about its cut.
#include "report/plan.hpp"

#include <fmt/format.h>

#include "report/analysis.hpp"
#include "report/orders/orders.hpp"
#include "report/quantity.hpp"
#include "report/words.hpp"

namespace napkin::report {
namespace {

const Kernel& kernel_of(const Analysis& analysis, const Saved& saved) {
  return reported(analysis.kernels[saved.kernel])->kernel;
}

std::string from_to(std::int64_t before, std::int64_t after) {
  return fmt::format("{} to {}", moved(static_cast<double>(before)), moved(static_cast<double>(after)));
}
std::string from_to(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after ? fmt::format("{} to {}", lasting(before), lasting(after)) : "-";
}

std::int64_t moved_by(const Cost& cost) {
  std::int64_t bytes = 0;
  for (const auto& kernel : cost.kernels)
    if (!kernel.levels.empty()) bytes += kernel.levels.front().transfer_bytes;
  return bytes;
}

std::string why(const AxisDivision& division) {
  const bool one = division.merges == 1;
  return fmt::format(
      "{} parts run in parallel and {} them: {} blocks for {} cores, and {} for {} kernels; undivided, {}, and the "
      "kernel takes {}",
      division.parts, one ? "a second kernel merges" : fmt::format("{} kernels merge", division.merges),
      division.blocks_divided, division.cores, lasting(division.time_s),
      one ? "both" : fmt::format("these {}", division.merges + 1),
      division.groups < static_cast<double>(division.cores)
          ? fmt::format("the grouped axes have {} positions", counted(division.groups))
          : fmt::format("there are {} blocks", division.blocks),
      lasting(division.time_undivided_s));
}

std::string why(const Swept& swept) {
  return fmt::format(
      "no level can hold it in one kernel, because it keeps an axis and needs all of it first; so {} became {} before "
      "it, and later kernels sweep over the axis again",
      join(swept.before), swept.before.size() == 1 ? "a statement" : "statements");
}

Json difference(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after ? number(*before - *after) : Json(nullptr);
}

Json one_json(const Analysis& analysis, const Saved& saved) {
  auto arrays = Json::array();
  for (const auto& array : saved.arrays) arrays.push_back({{"array", array.array}, {"bytes", array.bytes}});
  return {{"kernel", saved.kernel},
          {"statements", statement_names(*kernel_of(analysis, saved).derivation)},
          {"arrays", arrays},
          {"apart_transfer_bytes", saved.bytes_apart},
          {"transfer_bytes", saved.bytes},
          {"saved_bytes", saved.bytes_apart - saved.bytes},
          {"apart_time_s", number(saved.time_apart_s)},
          {"time_s", number(saved.time_s)},
          {"saved_time_s", difference(saved.time_apart_s, saved.time_s)}};
}

}  // namespace

std::string plan_text(const Analysis& analysis) {
  if (!analysis.plan || analysis.diagram.statements.size() < 2 || analysis.plan->plan.kernels.empty()) return "";
  const auto& plan = *analysis.plan;
  auto text = fmt::format("all possible fusions have {} different kernels; {} among {}",
                          counted(static_cast<double>(plan.cuts)),
                          plan.optimal ? "this one is optimal" : "this one is the best found, not proven,", plan.space);
  if (plan.gap) text += fmt::format("; no legal fusion is better by more than {:.1f} %", 100 * *plan.gap);
  return text;
}

Table saved_table(const Analysis& analysis) {
  Table table{{{"kernel", false, true}, {"no longer moved", false, true}, {"moved", false}, {"time", false}}, {}};
  if (!analysis.plan || !analysis.plan->apart) return table;
  const auto& plan = *analysis.plan;
  for (const auto& saved : plan.saved) {
    std::vector<std::string> arrays;
    for (const auto& array : saved.arrays)
      arrays.push_back(array.array + " " + moved(static_cast<double>(array.bytes)));
    table.rows.push_back({kernel_name(analysis, saved.kernel), arrays.empty() ? "-" : join(arrays),
                          from_to(saved.bytes_apart, saved.bytes), from_to(saved.time_apart_s, saved.time_s)});
  }
  if (plan.cost.kernels.size() < 2) return table;
  table.rows.push_back({"the whole plan", "", from_to(moved_by(*plan.apart), moved_by(plan.cost)),
                        from_to(plan.apart->time_s, plan.cost.time_s)});
  return table;
}

Json saved_json(const Analysis& analysis) {
  if (!analysis.plan || !analysis.plan->apart) return nullptr;
  const auto& plan = *analysis.plan;
  auto kernels = Json::array();
  for (const auto& saved : plan.saved) kernels.push_back(one_json(analysis, saved));
  return {{"kernels", kernels},
          {"apart_transfer_bytes", moved_by(*plan.apart)},
          {"transfer_bytes", moved_by(plan.cost)},
          {"saved_bytes", moved_by(*plan.apart) - moved_by(plan.cost)},
          {"apart_time_s", number(plan.apart->time_s)},
          {"time_s", number(plan.cost.time_s)},
          {"saved_time_s", difference(plan.apart->time_s, plan.cost.time_s)}};
}

namespace {

const AxisDivision* division_at(const FoundPlan& plan, std::size_t k) {
  const auto found = std::ranges::find(plan.divisions, k, &AxisDivision::kernel);
  return found == plan.divisions.end() ? nullptr : &*found;
}

// Replaces a group with one part per block by a group of the undivided axis, of the length of a part.
std::optional<Partition> undivided(Partition partition, const AxisDivision& division, const Diagram& diagram) {
  std::size_t groups = 0;
  for (auto& split : partition.splits) {
    if (split.wire == division.part) {
      if (split.kind != SplitKind::group || split.size != 1 || ++groups > 1) return std::nullopt;
      split = {SplitKind::group, division.wire, diagram.size(division.inside).value_or(1), split.level};
    } else if (split.wire == division.inside) {
      split.wire = division.wire;
    }
  }
  return groups == 1 ? std::optional(partition) : std::nullopt;
}

}  // namespace

namespace {

// The labels of a kernel in the names of the file. Labels of a divided kernel also cover those that merge its parts.
std::optional<std::string> labels_of(const FoundPlan& plan, std::size_t k, const Hardware& hardware) {
  const auto& kernel = plan.plan.kernels[k];
  const auto* division = division_at(plan, k);
  const auto partition = division ? undivided(kernel.partition, *division, plan.diagram) : kernel.partition;
  if (!partition) return std::nullopt;
  const auto statements = division ? division->statements : statement_names(*kernel.derivation);
  const auto labels = to_text(*partition, kernel.derivation->scratch, hardware);
  return join(statements) + ":" + (labels.empty() ? "" : " " + labels);
}

// An order of products is described by the arrays that it adds.
bool has_text(const Analysis& analysis) {
  if (analysis.plan &&
      std::ranges::any_of(analysis.plan->orders, [](const OrderTaken& one) { return one.made.empty(); }))
    return false;
  return analysis.plan && analysis.plan->swept.empty() && analysis.plan->prefixes.empty() && !analysis.symbolic &&
         analysis.plan->plan.kernels.size() == analysis.kernels.size();
}

}  // namespace

std::optional<std::string> as_partition(const Analysis& analysis) {
  if (!analysis.plan) return analysis.by_hand;
  if (!has_text(analysis)) return std::nullopt;
  std::vector<std::string> kernels;
  for (std::size_t k = 0; k < analysis.kernels.size(); ++k) {
    const auto labels = labels_of(*analysis.plan, k, analysis.hardware);
    if (!labels) return std::nullopt;
    kernels.push_back(*labels);
    if (const auto* division = division_at(*analysis.plan, k)) k += division->merges;
  }
  return fmt::format("{}", fmt::join(kernels, " | "));
}

std::optional<std::string> as_partition(const Analysis& analysis, std::size_t kernel) {
  if (!has_text(analysis)) return std::nullopt;
  for (const auto& division : analysis.plan->divisions)
    if (division.has(kernel)) kernel = division.kernel;
  return labels_of(*analysis.plan, kernel, analysis.hardware);
}

namespace {

bool is_written(const Analysis& analysis, const std::string& name) {
  return std::ranges::find(analysis.ordered.arrays, name, &Array::name) != analysis.ordered.arrays.end();
}

std::string without_number(std::string name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
  return name;
}

}  // namespace

std::int64_t length_of(const PrefixReduction& one, const Diagram& diagram) {
  return diagram.size(*find_wire(diagram, one.inside)).value_or(1);
}

// "Y reduces along t in chunks of 64 and a last one of 63, for which there are S and S_before"
std::string chunk_words(const PrefixReduction& one, const Diagram& diagram) {
  return fmt::format(
      "{} reduces along {} in {} of {}{}{}", one.statement, one.axis, one.of_groups ? "groups" : "chunks",
      length_of(one, diagram), one.rest > 0 ? fmt::format(" and a last one of {}", one.rest) : "",
      one.states.empty()
          ? ""
          : fmt::format(", for which there {} {}", one.states.size() == 1 ? "is" : "are", join_and(one.states)));
}

std::string names_text(const Analysis& analysis) {
  if (!analysis.plan) return "";
  std::vector<std::string> all, copies, states;
  for (const auto& division : analysis.plan->divisions)
    all.push_back(fmt::format("{0} counts the parts of {2}, and {1} the positions in a part",
                              analysis.diagram.at(division.part).name, analysis.diagram.at(division.inside).name,
                              division.axis));
  for (const auto& one : analysis.plan->orders) all.push_back(order_words(one, analysis.ordered));
  for (const auto& one : analysis.plan->prefixes) all.push_back(chunk_words(one, analysis.diagram));
  for (const auto& swept : analysis.plan->swept)
    all.push_back(fmt::format("{} {} from {}", join_and(swept.before), swept.before.size() == 1 ? "comes" : "come",
                              swept.statement));
  if (analysis.plan->divisions.empty()) return join(all, "; ");
  for (const auto& statement : analysis.diagram.statements) {
    const auto& name = analysis.diagram.at(statement.output).name;
    if (!is_written(analysis, name)) (is_written(analysis, without_number(name)) ? copies : states).push_back(name);
  }
  if (!copies.empty())
    all.push_back(fmt::format("a number at the end ({}) marks what the parts compute of an array", join(copies)));
  if (!states.empty())
    all.push_back(fmt::format("{} {} from the parts", join_and(states), states.size() == 1 ? "comes" : "come"));
  return join(all, "; ");
}

Table division_table(const Analysis& analysis) {
  Table table{{{"axis"}, {"why, and what it saves", false, true}}, {}};
  if (!analysis.plan) return table;
  for (const auto& division : analysis.plan->divisions) table.rows.push_back({division.axis, why(division)});
  return table;
}

Table sweeps_table(const Analysis& analysis) {
  Table table{{{"statement"}, {"why it became several", false, true}}, {}};
  if (!analysis.plan) return table;
  for (const auto& swept : analysis.plan->swept) table.rows.push_back({swept.statement, why(swept)});
  return table;
}

std::vector<std::string> changes(const Analysis& analysis) {
  std::vector<std::string> all;
  if (!analysis.plan) return {"an axis is divided into parallel parts, and a second kernel merges what they carry"};
  for (const auto& swept : analysis.plan->swept) all.push_back(fmt::format("{}: {}", swept.statement, why(swept)));
  for (const auto& one : analysis.plan->orders) all.push_back(order_words(one, analysis.ordered));
  for (const auto& one : analysis.plan->prefixes)
    all.push_back(fmt::format("{}: {}", one.statement, chunk_words(one, analysis.diagram)));
  for (const auto& division : analysis.plan->divisions)
    all.push_back(fmt::format("{}: {}", division.axis, why(division)));
  return all;
}

Json sweeps_json(const Analysis& analysis) {
  auto all = Json::array();
  if (!analysis.plan) return all;
  for (const auto& swept : analysis.plan->swept)
    all.push_back({{"statement", swept.statement}, {"before", swept.before}});
  return all;
}

Json prefixes_json(const Analysis& analysis) {
  auto all = Json::array();
  if (!analysis.plan) return all;
  for (const auto& one : analysis.plan->prefixes)
    all.push_back({{"statement", one.statement},
                   {"axis", one.axis},
                   {"chunk", one.chunk},
                   {"inside", one.inside},
                   {"length", length_of(one, analysis.diagram)},
                   {"rest", one.rest},
                   {"states", one.states}});
  return all;
}

Json divisions_json(const Analysis& analysis) {
  auto all = Json::array();
  if (!analysis.plan) return all;
  for (const auto& division : analysis.plan->divisions)
    all.push_back({{"kernel", division.kernel},
                   {"merging_kernels", division.merges},
                   {"axis", division.axis},
                   {"parts", division.parts},
                   {"undivided_blocks", division.blocks},
                   {"undivided_groups", division.groups},
                   {"blocks", division.blocks_divided},
                   {"cores", division.cores},
                   {"undivided_time_s", division.time_undivided_s},
                   {"time_s", division.time_s}});
  return all;
}

}  // namespace napkin::report
