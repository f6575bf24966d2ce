// A plan is searched or taken as written, then every kernel of it is configured.
#include "napkin/analyze.hpp"

#include <algorithm>

#include "analyze/by_hand.hpp"
#include "analyze/rows.hpp"
#include "loops/work.hpp"
#include "napkin/device.hpp"

namespace napkin {
namespace {

// If the kernel can be emitted for matrix units, the configuration gets the shared memory that it is launched with,
// which includes outputs on their way and barriers, in place of the tiles alone.
void count_shared_memory(Configuration& made, const Kernel& kernel, const Hardware& hardware) {
  if (hardware.cuda_capability() < 80) return;
  auto placed = distribute_warpgroups(kernel, hardware);
  if (std::holds_alternative<Refused>(placed)) placed = distribute(kernel, hardware);
  const auto* warps = std::get_if<WarpNest>(&placed);
  if (!warps || warps->warps != made.warpgroups * made.warpgroup_warps) return;
  made.pipelinings[made.chosen].shared_bytes = warps->shared_bytes;
}

// The labels down to the core. How a core divides its rows is for the configuration to say, unless a person did.
Kernel down_to_written(const Kernel& kernel, std::size_t k, const Analysis& analysis) {
  auto deepest = analysis.hardware.core.value_or(0);
  if (analysis.by_hand) deepest = std::max(deepest, analysis.written_to.at(k));
  Partition partition;
  std::ranges::copy_if(kernel.partition.splits, std::back_inserter(partition.splits),
                       [&](const Split& split) { return split.level <= deepest; });
  return make_kernel(kernel.derivation, partition);
}

std::optional<double> seconds(const Analysis& analysis) {
  double all = 0;
  for (const auto& found : analysis.kernels) {
    if (found.best.empty() || !found.best.front().cost.time_s) return std::nullopt;
    all += *found.best.front().cost.time_s;
  }
  return all;
}

// Labels do not say whether matrix units take products in parts: whatever is faster.
bool add_faster_by_hand(const WrittenPlan& written, Analysis& analysis, Diagnostics& diagnostics) {
  auto lanes = analysis;
  if (!add_by_hand(written, analysis, diagnostics)) return false;
  if (!has_parts(analysis.diagram, analysis.hardware)) return true;
  lanes.diagram.in_parts = lanes.ordered.in_parts = false;
  const auto said = diagnostics;
  const bool added = add_by_hand(written, lanes, diagnostics);
  diagnostics = said;
  const auto before = seconds(analysis), then = added ? seconds(lanes) : std::nullopt;
  if (then && (!before || *then < *before)) analysis = std::move(lanes);
  return true;
}

Analysis begun(const AnalysisRequest& request) {
  return {.written = request.written,
          .diagram = request.diagram,
          .ordered = request.diagram,
          .hardware = request.hardware,
          .goal = request.goal,
          .source = request.source};
}

void add_searched_plan(const AnalysisRequest& request, Analysis& analysis) {
  analysis.goal.chunks = analysis.goal.orders =
      std::ranges::all_of(request.written.axes, [](const Axis& axis) { return axis.size.has_value(); });
  analysis.plan = search(request.diagram, request.hardware, analysis.goal);
  analysis.kernels = std::move(analysis.plan->kernels);
  analysis.diagram = analysis.plan->diagram, analysis.ordered = analysis.plan->ordered;
  if (analysis.goal.orders) take_rows(analysis);
}

// The number of kernels that merge the parts of others.
std::size_t merging_kernels(const Analysis& analysis) {
  if (!analysis.plan) return analysis.merging_by_hand;
  std::size_t all = 0;
  for (const auto& division : analysis.plan->divisions) all += division.merges;
  return all;
}

void configure_kernels(Analysis& analysis) {
  for (std::size_t k = 0; k < analysis.kernels.size(); ++k) {
    const auto* shown = reported(analysis.kernels[k]);
    auto& made = analysis.configurations.emplace_back();
    if (!shown) continue;
    made = configure(down_to_written(shown->kernel, k, analysis), shown->cost, analysis.hardware, analysis.goal.model);
    if (made && analysis.goal.model == Model::machine) count_shared_memory(*made, shown->kernel, analysis.hardware);
  }
}

// Closed forms alone, since no number holds of other sizes than those that were assumed.
void leave_closed_forms(Found& found) {
  const auto* best = reported(found);
  if (!best) return;
  auto candidate = *best;
  auto form = candidate.cost.closed_form;
  for (auto& term : form.terms) term.alpha_value = 0;
  form.bound_values.reset();
  candidate.cost = {};
  candidate.cost.closed_form = std::move(form);
  found = Found{{std::move(candidate)}, std::nullopt, 0, 0, false, ""};
}

}  // namespace

std::optional<Analysis> analyze(const AnalysisRequest& request, Diagnostics& diagnostics) {
  auto analysis = begun(request);
  if (!request.plan)
    add_searched_plan(request, analysis);
  else if (!add_faster_by_hand(*request.plan, analysis, diagnostics))
    return std::nullopt;
  if (merging_kernels(analysis) + 1 == analysis.kernels.size())
    analysis.shared = share(analysis.ordered, analysis.hardware, analysis.goal);
  configure_kernels(analysis);
  if (request.explore && fits(analysis))
    analysis.explored = explore(plan_of(analysis), analysis.hardware, analysis.goal.model);
  return analysis;
}

std::optional<Analysis> analyze_symbolically(const AnalysisRequest& request, Diagnostics& diagnostics) {
  constexpr std::int64_t assumed = 4096;
  auto sized = request.diagram;
  for (auto& axis : sized.axes) axis.size = axis.size.value_or(assumed);
  auto analysis = analyze({request.written, sized, request.hardware, request.goal, request.plan}, diagnostics);
  if (!analysis) return std::nullopt;
  analysis->diagram = analysis->ordered = request.diagram;
  analysis->symbolic = true;
  analysis->plan.reset();
  analysis->configurations.clear();
  for (auto& found : analysis->kernels) leave_closed_forms(found);
  return analysis;
}

const Candidate* reported(const Found& found) {
  if (!found.best.empty()) return &found.best.front();
  return found.nearest ? &*found.nearest : nullptr;
}

std::vector<Candidate> chosen(const Analysis& analysis) {
  std::vector<Candidate> all;
  for (const auto& found : analysis.kernels) {
    if (const auto* shown = reported(found)) all.push_back(*shown);
  }
  return all;
}

Plan plan_of(const Analysis& analysis) {
  Plan plan;
  for (auto& candidate : chosen(analysis)) plan.kernels.push_back(candidate.kernel);
  return plan;
}

bool fits(const Analysis& analysis) {
  const auto all = chosen(analysis);
  return !all.empty() && std::all_of(all.begin(), all.end(), [](const auto& one) { return one.cost.overruns.empty(); });
}

}  // namespace napkin
