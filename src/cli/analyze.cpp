// `napkin analyze`: the report of the best plan, or of the partition that was written.
#include "cli/commands.hpp"
#include "cli/plans.hpp"

namespace napkin::cli {

int run_analyze(Session& session) {
  auto started = start(session, Sizes::or_symbolic);
  if (!started.analysis) return started.finished;
  if (!session.options.plot.empty()) return run_plot(session, *started.analysis);
  if (format(session.options) == Format::html) look_around(session, *started.analysis);
  return deliver(session, print(*started.analysis, format(session.options), product_in_color(session)));
}

}  // namespace napkin::cli
