#include "analyze/rows.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "napkin/derive.hpp"
#include "napkin/device.hpp"
#include "napkin/search.hpp"

namespace napkin {
namespace {

// The candidate with its rows over warps; none if it runs otherwise, if nothing changes, or if that does not fit.
std::optional<Candidate> of_rows(const Candidate& searched, const Hardware& hardware, Model model) {
  const auto rows = rows_of(searched.kernel, hardware);
  if (!rows || rows->partition == searched.kernel.partition) return std::nullopt;
  Candidate made{make_kernel(searched.kernel.derivation, rows->partition), {}};
  made.cost = estimate(made.kernel, hardware, model);
  // The distribution has counted the registers of a lane; it holds less of a row than the model does.
  std::erase_if(made.cost.overruns, [&](const Overrun& one) { return one.level + 1 == hardware.levels.size(); });
  if (made.cost.overflow || !made.cost.overruns.empty() || !made.cost.time_s) return std::nullopt;
  return made;
}

bool has_rows(const Candidate& one, const Hardware& hardware) { return rows_of(one.kernel, hardware).has_value(); }

// The statements of a kernel in groups that share no array with each other.
std::vector<std::vector<StatementId>> unconnected(const Derivation& derivation, const Diagram& diagram) {
  std::vector<std::pair<std::vector<StatementId>, std::set<ArrayId>>> groups;
  for (const auto id : derivation.statements) {
    const auto& statement = diagram.at(id);
    std::vector<StatementId> statements{id};
    auto read = arrays_read(diagram, statement.value);
    std::set<ArrayId> arrays(read.begin(), read.end());
    arrays.insert(statement.output);
    std::erase_if(groups, [&](const auto& group) {
      if (std::ranges::none_of(group.second, [&](ArrayId array) { return arrays.contains(array); })) return false;
      statements.insert(statements.begin(), group.first.begin(), group.first.end());
      arrays.insert(group.second.begin(), group.second.end());
      return true;
    });
    groups.emplace_back(std::move(statements), std::move(arrays));
  }
  std::vector<std::vector<StatementId>> all;
  for (auto& [statements, arrays] : groups) all.push_back(std::move(statements)), std::ranges::sort(all.back());
  return all;
}

// Kernel k, which is not that of the parts, has become several, `more` of them new.
void follow(AxisDivision& division, std::size_t k, std::size_t more) {
  if (division.kernel > k) division.kernel += more;
  if (division.has(k)) division.merges += more;
}

// Replaces kernels, other than those of parts, by those that they are split into.
void split_kernels(Analysis& analysis) {
  auto& plan = *analysis.plan;
  for (std::size_t k = 0; k < analysis.kernels.size(); ++k) {
    if (std::ranges::count(plan.divisions, k, &AxisDivision::kernel) > 0) continue;
    auto apart = split_into_rows(analysis.kernels[k], analysis.diagram, analysis.hardware, analysis.goal);
    if (apart.empty()) continue;
    const auto more = apart.size() - 1;
    std::erase_if(plan.saved, [&](const Saved& saved) { return saved.kernel == k; });
    for (auto& saved : plan.saved) saved.kernel += saved.kernel > k ? more : 0;
    for (auto& division : plan.divisions) follow(division, k, more);
    const auto at = analysis.kernels.erase(analysis.kernels.begin() + static_cast<std::ptrdiff_t>(k));
    analysis.kernels.insert(at, std::make_move_iterator(apart.begin()), std::make_move_iterator(apart.end()));
    k += more;
  }
}

double seconds(const AxisDivision& division, const std::vector<KernelCost>& costs) {
  double all = 0;
  for (std::size_t k = 0; k < costs.size(); ++k)
    if (division.has(k)) all += costs[k].time_s.value_or(0);
  return all;
}

}  // namespace

std::vector<Found> split_into_rows(const Found& found, const Diagram& diagram, const Hardware& hardware,
                                   const Goal& goal) {
  std::vector<Found> all;
  if (goal.objective != Objective::time || goal.model != Model::machine || found.best.empty()) return all;
  const auto& derivation = *found.best.front().kernel.derivation;
  if (hardware.cuda_capability() < 80 || has_rows(found.best.front(), hardware)) return all;
  const auto groups = unconnected(derivation, diagram);
  if (groups.size() < 2) return all;
  for (const auto& group : groups) {
    std::vector<ArrayId> outputs;
    for (const auto id : group)
      if (const auto made = diagram.at(id).output; std::ranges::count(derivation.outputs, made) > 0)
        outputs.push_back(made);
    auto apart = search(std::make_shared<const Derivation>(derive(diagram, group, outputs)), hardware, goal);
    if (apart.best.empty() || !has_rows(apart.best.front(), hardware)) return {};
    all.push_back(std::move(apart));
  }
  return all;
}

void take_rows(Found& found, const Hardware& hardware, const Goal& goal) {
  if (found.best.empty() || goal.objective != Objective::time || goal.model != Model::machine) return;
  auto made = of_rows(found.best.front(), hardware, goal.model);
  if (!made) return;
  std::erase_if(found.best, [&](const Candidate& other) { return other.cost.time_s < made->cost.time_s; });
  found.best.insert(found.best.begin(), std::move(*made));
}

void take_rows(Analysis& analysis) {
  constexpr double noticeable = 0.005;
  auto& plan = *analysis.plan;
  const auto before = plan.cost.time_s;
  if (plan.plan.kernels.size() != analysis.kernels.size() || !before) return;
  split_kernels(analysis);
  std::vector<KernelCost> costs;
  for (auto& found : analysis.kernels) {
    take_rows(found, analysis.hardware, analysis.goal);
    costs.push_back(found.best.front().cost);
  }
  for (auto& division : plan.divisions) division.time_s = seconds(division, costs);
  plan.plan.kernels = plan_of(analysis).kernels;
  plan.cost = total(std::move(costs));
  if (*plan.cost.time_s <= *before * (1 + noticeable)) return;
  const double least = plan.optimal ? *before : *before * (1 - plan.gap.value_or(1));
  if (plan.optimal || plan.gap) plan.gap = 1 - least / *plan.cost.time_s;
  plan.optimal = false;
}

}  // namespace napkin
