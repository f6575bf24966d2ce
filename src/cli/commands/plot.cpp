// `napkin analyze --plot`: prints a chart as a picture, or the numbers behind it.
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/convert.hpp"
#include "cli/plans.hpp"
#include "napkin/pictures.hpp"

namespace napkin::cli {
namespace {

std::string ending(const std::string& path) {
  const auto dot = path.find_last_of("./");
  return dot == std::string::npos || path[dot] == '/' ? "" : path.substr(dot + 1);
}

std::optional<std::string> picture(Session& session, const Chart& chart) {
  const auto& output = session.options.output;
  const auto format = output.empty() || output == "-" ? "csv" : ending(output);
  if (format == "csv") return emit_csv(chart.data);
  if (format == "svg") return emit_svg(chart.scene);
  if (format == "pdf" || format == "png") return convert(session, emit_svg(chart.scene), format);
  complain(session, "E0523", fmt::format("no chart has the ending of `{}`", output), output,
           "use .svg, .pdf, .png or .csv");
  return std::nullopt;
}

}  // namespace

int run_plot(Session& session, const Analysis& analysis) {
  const auto& name = session.options.plot;
  const auto chart = plot(name, report::charted(analysis));
  if (!chart && !session.diagnostics.has_errors())
    complain(session, "E0523", fmt::format("the chart `{}` has nothing to show here", name), name,
             "`napkin analyze` without `--plot` shows what is known about the kernels on this machine");
  const auto made = chart ? picture(session, *chart) : std::nullopt;
  return made ? deliver(session, *made) : finish(session);
}

}  // namespace napkin::cli
