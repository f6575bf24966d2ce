// Makes the kernels that replace others in a plan.
#include "search/plans/half.hpp"

#include <algorithm>
#include <utility>

#include "loops/work.hpp"
#include "search/cuts/prices.hpp"

namespace napkin {

Half half(const Diagram& diagram, const std::vector<StatementId>& statements, const LeastPrices& least) {
  Half made;
  const auto outputs = outputs_of(diagram, statements);
  for (const auto statement : statements) {
    made.cut.computed.set(statement.index);
    made.cut.saved[statement.index] = std::ranges::count(outputs, diagram.at(statement).output) > 0;
  }
  made.least_s = least.of(made.cut).objective;
  return made;
}

void derive_half(Half& half, const Diagram& diagram, const Hardware& hardware) {
  if (half.derivation) return;
  std::vector<StatementId> statements;
  for (std::uint32_t i = 0; i < diagram.statements.size(); ++i)
    if (half.cut.computed[i]) statements.push_back({i});
  half.derivation = std::make_shared<const Derivation>(derive(diagram, statements));
  half.alike = likeness(diagram, half.cut, diagram.in_parts && has_parts(*half.derivation, hardware));
}

const Space& space(Half& half, const Hardware& hardware, const Goal& goal) {
  if (!half.space) half.space = make_space(half.derivation, hardware, goal);
  return *half.space;
}

std::optional<Halves> halves(const Diagram& diagram, const Derivation& fused, WireId wire, std::int64_t parts,
                             const Hardware& hardware, const Goal& goal) {
  auto made = divide(diagram, fused, wire, parts);
  if (!made || made->parts.empty()) return std::nullopt;
  const LeastPrices least(made->diagram, hardware, goal);
  auto partial = half(made->diagram, made->parts, least), merging = half(made->diagram, made->merging, least);
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
