#include "analyze/rows.hpp"

#include <algorithm>

#include "napkin/device.hpp"

namespace napkin {
namespace {

// The candidate with its rows over warps; none if it runs otherwise, if nothing changes, or if that does not fit.
std::optional<Candidate> of_rows(const Candidate& searched, const Hardware& hardware, Model model) {
  const auto distributed = distribute_rows(searched.kernel, hardware);
  const auto* rows = std::get_if<RowNest>(&distributed);
  if (!rows || rows->partition == searched.kernel.partition) return std::nullopt;
  Candidate made{make_kernel(searched.kernel.derivation, rows->partition), {}};
  made.cost = estimate(made.kernel, hardware, model);
  // The distribution has counted the registers of a lane; it holds less of a row than the model does.
  std::erase_if(made.cost.overruns, [&](const Overrun& one) { return one.level + 1 == hardware.levels.size(); });
  if (made.cost.overflow || !made.cost.overruns.empty() || !made.cost.time_s) return std::nullopt;
  return made;
}

}  // namespace

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
  std::vector<KernelCost> costs;
  for (auto& found : analysis.kernels) {
    take_rows(found, analysis.hardware, analysis.goal);
    costs.push_back(found.best.front().cost);
  }
  plan.plan.kernels = plan_of(analysis).kernels;
  plan.cost = total(std::move(costs));
  if (*plan.cost.time_s <= *before * (1 + noticeable)) return;
  const double least = plan.optimal ? *before : *before * (1 - plan.gap.value_or(1));
  if (plan.optimal || plan.gap) plan.gap = 1 - least / *plan.cost.time_s;
  plan.optimal = false;
}

}  // namespace napkin
