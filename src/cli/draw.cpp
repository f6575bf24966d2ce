// `napkin draw`: a diagram as a picture, on a machine if one is named.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/convert.hpp"
#include "cli/plans.hpp"
#include "napkin/emit.hpp"

namespace napkin::cli {
namespace {

struct PictureFormat {
  std::string_view name, ending;
  std::string (*print)(const Scene&);
  bool converted = false;  // from what `print` gives
  double width = 1120;     // at which rows are broken
};
constexpr PictureFormat formats[] = {{"text", ".txt", emit_text_drawing, false, 100 * 8},
                                     {"svg", ".svg", emit_svg},
                                     {"tikz", ".tex", emit_tikz},
                                     {"pdf", ".pdf", emit_svg, true},
                                     {"png", ".png", emit_svg, true}};

// What was asked for by name, or else by the ending of the file; none, with a diagnostic, where there is no such.
const PictureFormat* asked(Session& session) {
  const auto& options = session.options;
  const bool to_file = !options.output.empty() && options.output != "-";
  if (options.picture.empty() && !to_file) return &formats[0];
  for (const auto& format : formats)
    if (options.picture.empty() ? options.output.ends_with(format.ending) : options.picture == format.name)
      return &format;
  complain(session, "E0523", fmt::format("`{}` has the ending of no picture", options.output), options.output,
           "one of .svg, .pdf, .png, .tex and .txt; or name the format: `--format svg`");
  return nullptr;
}

// None, with the exit code, where there is nothing to draw.
std::optional<Scene> make_scene(Session& session, double width, int& finished) {
  const auto& options = session.options;
  if (options.target.empty() && options.partition.empty() && options.print.empty()) {
    const auto input = read_input(session);
    if (!input) finished = finish(session);
    return input ? std::optional(lay_out(input->diagram, width)) : std::nullopt;
  }
  const auto started = start(session);
  finished = started.finished;
  if (!started.analysis) return std::nullopt;
  const auto& analysis = *started.analysis;
  Cost cost;
  for (const auto& candidate : chosen(analysis)) cost.kernels.push_back(candidate.cost);
  return lay_out(analysis.diagram, plan_of(analysis), cost, analysis.hardware, analysis.goal.model, width);
}

}  // namespace

int run_draw(Session& session) {
  const auto* format = asked(session);
  if (!format) return finish(session);
  int finished = 0;
  const auto scene = make_scene(session, format->width, finished);
  if (!scene) return finished;
  auto picture = std::optional(format->print(*scene));
  if (format->converted) picture = convert(session, *picture, std::string(format->name));
  return picture ? deliver(session, *picture) : finish(session);
}

}  // namespace napkin::cli
