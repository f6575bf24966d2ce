#include "search/plans/lanes.hpp"

#include <utility>

#include "diagram/checked.hpp"
#include "loops/work.hpp"

namespace napkin {
namespace {

FoundPlan better(FoundPlan a, FoundPlan b, const Goal& goal) {
  const bool optimal = a.optimal && b.optimal;
  const auto candidates = saturating_add(a.candidates, b.candidates), evaluated = a.evaluated + b.evaluated;
  auto best = worth(b, goal) < worth(a, goal) ? std::move(b) : std::move(a);
  if (best.optimal && !optimal) best.gap.reset();
  best.optimal = optimal, best.candidates = candidates, best.evaluated = evaluated;
  return best;
}

}  // namespace

FoundPlan in_parts_or_on_lanes(const Diagram& diagram, const Hardware& hardware, const Goal& goal, const PlanOf& plan) {
  auto found = plan(diagram, goal);
  if (!diagram.in_parts || !has_parts(diagram, hardware) || goal.stop.stop_requested()) return found;
  auto lanes = diagram;
  lanes.in_parts = false;
  auto other = plan(lanes, near(found, goal));
  return better(std::move(found), std::move(other), goal);
}

}  // namespace napkin
