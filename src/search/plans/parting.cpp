// Parts a kernel of a plan into two halves, each of which is searched as a kernel of its own.
#include "search/plans/parting.hpp"

#include <algorithm>

#include "diagram/checked.hpp"
#include "search/kernels.hpp"

namespace napkin {

std::optional<FoundPlan> Parting::part(std::size_t kernel, std::size_t at, double most_s) const {
  const auto& fused = *whole_.kernels[kernel].best.front().kernel.derivation;
  const auto middle = fused.statements.begin() + static_cast<std::ptrdiff_t>(at);
  auto first = half(whole_.diagram, {fused.statements.begin(), middle}, least_);
  auto second = half(whole_.diagram, {middle, fused.statements.end()}, least_);
  const double others = *whole_.cost.time_s - *whole_.cost.kernels[kernel].time_s;
  // A division may fuse one of the two with a kernel beside it, which then makes or reads the same arrays anyway.
  if (others + std::min(first.least_s, second.least_s) >= most_s) return std::nullopt;
  std::vector<Found> both;
  double open_s = 0;
  for (auto* one : {&first, &second}) {
    both.push_back(searched(*one));
    const auto& best = both.back().best;
    if (best.empty() || !best[0].cost.time_s || !best[0].cost.overruns.empty()) return std::nullopt;
    if (!both.back().optimal) open_s += *best[0].cost.time_s - one->least_s;
  }
  auto made = with(kernel, std::move(both));
  if (whole_.optimal || whole_.gap) made.gap = std::max(whole_.gap.value_or(0), open_s / *made.cost.time_s);
  return made;
}

Found Parting::searched(Half& half) const {
  derive_half(half, whole_.diagram, hardware_);
  const auto budget = patient(50'000, goal_);
  const auto space = make_space(half.derivation, hardware_, goal_);
  if (goal_.top > 1) return found(space, goal_, rank, budget);
  auto ranking = searched_.find(half.alike, budget, Price::never());
  if (ranking) {
    ranking->statistics.evaluated = 0;
  } else {
    ranking = rank(space, goal_, Incumbents(1, space.first), false, budget);
    searched_.keep(half.alike, *ranking, budget, Price::never());
  }
  return found(space, goal_, *ranking);
}

bool Parting::is_alone(std::size_t kernel) const {
  const auto& mine = whole_.kernels[kernel].best.front().kernel.derivation->statements;
  return std::ranges::none_of(mine, [&](StatementId id) {
    return std::ranges::count_if(whole_.kernels, [&](const Found& other) {
             return std::ranges::count(other.best.front().kernel.derivation->statements, id) > 0;
           }) > 1;
  });
}

// The first half follows the kernel that computes the last of what it reads, so that a division may fuse the two.
FoundPlan Parting::with(std::size_t kernel, std::vector<Found> both) const {
  auto made = whole_;
  for (const auto& half : both)
    made.optimal = made.optimal && half.optimal, made.evaluated += half.evaluated,
    made.candidates = saturating_add(made.candidates, half.candidates);
  const auto first = after_producers(both[0], kernel);
  std::erase_if(made.saved, [&](const Saved& saved) { return saved.kernel == kernel; });
  for (auto& saved : made.saved) saved.kernel += saved.kernel >= first ? 1 : 0;
  made.kernels[kernel] = std::move(both[1]);
  made.kernels.insert(made.kernels.begin() + static_cast<std::ptrdiff_t>(first), std::move(both[0]));
  take_best(made);
  return made;
}

std::size_t Parting::after_producers(const Found& half, std::size_t kernel) const {
  const auto& inputs = half.best.front().kernel.derivation->inputs;
  for (auto place = kernel; place > 0; --place) {
    const auto& outputs = whole_.kernels[place - 1].best.front().kernel.derivation->outputs;
    if (std::ranges::find_first_of(inputs, outputs) != inputs.end()) return place;
  }
  return kernel;
}

}  // namespace napkin
