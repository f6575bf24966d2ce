// `napkin analyze`: prints the report of the best plan, or of a given partition.
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/plans.hpp"

namespace napkin::cli {
namespace {

// None, with an error, if the plan does not have the requested kernel, or the format does not show one alone.
std::optional<View> view_of(Session& session, const Analysis& analysis) {
  const auto& asked = session.options.kernel;
  // The details contain the table of runners-up.
  View view{session.options.details || session.options.top > 1, std::nullopt};
  if (asked == 0) return view;
  if (const auto wanted = format(session.options); wanted == Format::json || wanted == Format::html) {
    complain(session, "E0522", "JSON and HTML have all kernels of the plan", "--kernel", "leave `--kernel` out");
    return std::nullopt;
  }
  view.kernel = asked - 1;
  const auto count = analysis.kernels.size();
  if (asked <= count) return view;
  complain(session, "E0523",
           fmt::format("the plan has {} kernel{}, and no kernel {}", count, count == 1 ? "" : "s", asked),
           std::to_string(asked), count == 1 ? "leave `--kernel` out" : fmt::format("a number from 1 to {}", count));
  return std::nullopt;
}

}  // namespace

int run_analyze(Session& session) {
  auto started = start(session, Sizes::or_symbolic);
  if (!started.analysis) return started.finished;
  warn_of_other_tiles(session, *started.analysis);
  if (!session.options.plot.empty()) return run_plot(session, *started.analysis);
  if (format(session.options) == Format::html) look_around(session, *started.analysis);
  const auto view = view_of(session, *started.analysis);
  if (!view) return finish(session);
  return deliver(session, print(*started.analysis, format(session.options), product_in_color(session), *view));
}

}  // namespace napkin::cli
