// `napkin draw`: draws a diagram, on a machine if one is named, or its derivation as a series of pictures.
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/convert.hpp"
#include "cli/files.hpp"
#include "cli/plans.hpp"
#include "napkin/pictures.hpp"
#include "text/escape.hpp"

namespace napkin::cli {
namespace {

std::string emit_one_page(const Scene& scene) { return emit_page({scene}, scene.title); }

struct PictureFormat {
  std::string_view name, ending;
  std::string (*print)(const Scene&);
  bool converted = false;  // whether a converter makes it from the text of `print`
  double width = 1200;     // width at which rows are broken
};
constexpr PictureFormat picture_formats[] = {{"text", ".txt", emit_text_drawing, false, 100 * 8},
                                             {"svg", ".svg", emit_svg},
                                             {"tikz", ".tex", emit_tikz},
                                             {"pdf", ".pdf", emit_svg, true},
                                             {"png", ".png", emit_svg, true},
                                             {"html", ".html", emit_one_page}};

bool to_file(const Options& options) { return !options.output.empty() && options.output != "-"; }

// The format that the user named, or that of the file's ending. None, with a diagnostic, if there is no such format.
const PictureFormat* asked(Session& session) {
  const auto& options = session.options;
  if (options.picture.empty() && !to_file(options)) return &picture_formats[0];
  for (const auto& format : picture_formats)
    if (options.picture.empty() ? options.output.ends_with(format.ending) : options.picture == format.name)
      return &format;
  complain(session, "E0523", fmt::format("no picture has the ending of `{}`", options.output), options.output,
           "use .svg, .pdf, .png, .tex, .html or .txt, or name the format: `--format svg`");
  return nullptr;
}

// The wire whose stream carries the most states.
std::optional<WireId> streamed(const Derivation& derivation) {
  std::optional<WireId> best;
  std::size_t most = 0;
  for (const auto& verdict : derivation.verdicts)
    if (const auto* stream = std::get_if<Streamable>(&verdict.stream))
      if (stream->state.size() > most) best = verdict.wire, most = stream->state.size();
  return best;
}

struct Pictures {
  std::string diagram;
  std::vector<Scene> scenes;
};

// Lays out the diagram or its derivation, with the plan if there is one.
std::vector<Scene> lay_out_all(const Session& session, const Diagram& diagram, const std::optional<Analysis>& analysis,
                               double width) {
  const bool film = session.options.derivation;
  if (analysis) return film ? report::lay_out_film(*analysis, width) : std::vector{report::lay_out(*analysis, width)};
  if (!film) return {lay_out(diagram, width)};
  const auto derivation = napkin::derive(diagram, all_statements(diagram));
  return lay_out_derivation(diagram, derivation, streamed(derivation), width);
}

// None, with the exit code, if there is nothing to draw.
std::optional<Pictures> make_pictures(Session& session, double width, int& finished) {
  const auto& options = session.options;
  if (options.target.empty() && options.partition.empty() && options.print.empty()) {
    const auto input = read_input(session);
    if (!input) finished = finish(session);
    if (!input) return std::nullopt;
    return Pictures{input->diagram.name, lay_out_all(session, input->diagram, std::nullopt, width)};
  }
  const auto started = start(session);
  finished = started.finished;
  if (!started.analysis) return std::nullopt;
  const auto& diagram = started.analysis->diagram;
  return Pictures{diagram.name, lay_out_all(session, diagram, started.analysis, width)};
}

std::optional<std::string> picture(Session& session, const PictureFormat& format, const Scene& scene) {
  auto text = format.print(scene);
  return format.converted ? convert(session, text, std::string(format.name)) : std::optional(std::move(text));
}

// Numbers a path: `film.svg` becomes `film-01.svg`, `film-02.svg`, ...
std::string numbered(const std::string& path, std::size_t number) {
  const auto dot = path.rfind('.'), slash = path.rfind('/');
  const auto end = dot == std::string::npos || (slash != std::string::npos && dot < slash) ? path.size() : dot;
  return fmt::format("{}-{:02}{}", path.substr(0, end), number, path.substr(end));
}

int deliver_files(Session& session, const PictureFormat& format, const std::vector<Scene>& scenes) {
  for (std::size_t i = 0; i < scenes.size() && !session.diagnostics.has_errors(); ++i) {
    const auto path = numbered(session.options.output, i + 1);
    const auto made = picture(session, format, scenes[i]);
    if (made && save(session, path, *made) && !session.options.quiet)
      session.err << "wrote " << on_one_line(path) << "\n";
  }
  return finish(session);
}

int deliver_all(Session& session, const PictureFormat& format, const Pictures& pictures) {
  const auto& scenes = pictures.scenes;
  if (format.name == "html") return deliver(session, emit_page(scenes, pictures.diagram + ", step by step"));
  if (to_file(session.options) && format.name != "text") return deliver_files(session, format, scenes);
  std::string all;
  for (const auto& scene : scenes) {
    const auto made = picture(session, format, scene);
    if (!made) return finish(session);
    all += (all.empty() ? "" : "\n") + *made;
  }
  return deliver(session, all);
}

}  // namespace

int run_draw(Session& session) {
  const auto* format = asked(session);
  if (!format) return finish(session);
  int finished = 0;
  const auto pictures = make_pictures(session, format->width, finished);
  if (!pictures) return finished;
  if (pictures->scenes.size() > 1) return deliver_all(session, *format, *pictures);
  const auto made = picture(session, *format, pictures->scenes.front());
  return made ? deliver(session, *made) : finish(session);
}

}  // namespace napkin::cli
