#include "search/plans/joined.hpp"

#include <algorithm>
#include <iterator>

#include "diagram/checked.hpp"

namespace napkin {

void Joined::add(PlannedCut run) {
  auto& found = run.found;
  for (auto& one : found.saved) one.kernel += all_.found.kernels.size(), all_.found.saved.push_back(std::move(one));
  compare(found, run.statements);
  std::ranges::move(found.cost.kernels, std::back_inserter(costs_));
  std::ranges::move(found.kernels, std::back_inserter(all_.found.kernels));
  std::ranges::move(found.plan.kernels, std::back_inserter(all_.found.plan.kernels));
  all_.found.candidates = saturating_add(all_.found.candidates, found.candidates);
  all_.found.evaluated += found.evaluated, all_.found.cuts += found.cuts;
  all_.found.space = "sections of neighbouring statements, and in each section " + found.space;
  all_.price = all_.price + run.price;
}

PlannedCut Joined::take() {
  all_.found.cost = total(std::move(costs_));
  if (comparable_ && any_fused_) all_.found.apart = total(std::move(apart_));
  if (!all_.found.apart) all_.found.saved.clear();
  return std::move(all_);
}

// A run that fuses nothing is the same as its statements in separate kernels.
void Joined::compare(const FoundPlan& found, std::size_t statements) {
  const bool fused = found.plan.kernels.size() != statements;
  any_fused_ = any_fused_ || fused;
  comparable_ = comparable_ && (!fused || found.apart);
  const auto& apart = found.apart ? found.apart->kernels : found.cost.kernels;
  apart_.insert(apart_.end(), apart.begin(), apart.end());
}

}  // namespace napkin
