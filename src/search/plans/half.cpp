// Makes the kernels that replace others in a plan.
#include "search/plans/half.hpp"

#include <algorithm>
#include <utility>

#include "loops/work.hpp"
#include "search/plans/prices.hpp"

namespace napkin {

Half half(const Diagram& diagram, const std::vector<StatementId>& statements, const Hardware& hardware,
          const Goal& goal) {
  Half made{std::make_shared<const Derivation>(derive(diagram, statements)), {}};
  Cut cut;
  for (const auto statement : statements) {
    cut.computed.set(statement.index);
    cut.saved[statement.index] = std::ranges::count(made.derivation->outputs, diagram.at(statement).output) > 0;
  }
  made.alike = likeness(diagram, cut, diagram.in_parts && has_parts(*made.derivation, hardware));
  made.least_s = LeastPrices(diagram, hardware, goal).of(cut).objective;
  return made;
}

const Space& space(Half& half, const Hardware& hardware, const Goal& goal) {
  if (!half.space) half.space = make_space(half.derivation, hardware, goal);
  return *half.space;
}

std::optional<Halves> halves(const Diagram& diagram, const Derivation& fused, WireId wire, std::int64_t parts,
                             const Hardware& hardware, const Goal& goal) {
  auto made = divide(diagram, fused, wire, parts);
  if (!made || made->parts.empty()) return std::nullopt;
  auto partial = half(made->diagram, made->parts, hardware, goal);
  auto merging = half(made->diagram, made->merging, hardware, goal);
  return Halves{std::move(*made), std::move(partial), std::move(merging)};
}

void take_best(FoundPlan& found) {
  found.plan.kernels.clear();
  std::vector<KernelCost> costs;
  for (const auto& kernel : found.kernels) {
    found.plan.kernels.push_back(kernel.best.front().kernel);
    costs.push_back(kernel.best.front().cost);
  }
  found.cost = total(std::move(costs));
}

}  // namespace napkin
