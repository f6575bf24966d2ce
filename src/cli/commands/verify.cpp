// `napkin verify`: runs the plan at small sizes and checks results and counts.
#include <algorithm>

#include "cli/commands/commands.hpp"
#include "cli/plans.hpp"
#include "report/analysis.hpp"

namespace napkin::cli {
namespace {

// Axes whose sizes the user gave.
std::vector<AxisId> set_axes(const Session& session, const Diagram& diagram) {
  std::vector<AxisId> axes;
  for (std::uint32_t id = 0; id < diagram.axes.size(); ++id) {
    const auto& set = session.options.set;
    const auto names_it = [&](const std::string& word) { return word.starts_with(diagram.axes[id].name + "="); };
    if (std::any_of(set.begin(), set.end(), names_it)) axes.push_back({id});
  }
  return axes;
}

}  // namespace

int run_verify(Session& session) {
  const auto started = start(session);
  if (!started.analysis) return started.finished;
  if (session.diagnostics.has_errors()) return finish(session);
  const auto& [diagram, hardware] = std::tie(started.analysis->diagram, started.analysis->hardware);
  const auto small = shrink(diagram, plan_of(*started.analysis), hardware, set_axes(session, diagram));
  const auto predicted = estimate(small.plan, hardware, started.analysis->goal.model);
  auto verification =
      verify_plan(small.diagram, small.plan, predicted, hardware, all_numbers, &started.analysis->written);
  for (std::size_t k = 0; k < verification.kernels.size(); ++k)
    verification.kernels[k].name = report::kernel_name(*started.analysis, k);
  return deliver(session, print(verification, format(session.options), product_in_color(session)),
                 verification.ok ? exit_done : exit_gate);
}

}  // namespace napkin::cli
