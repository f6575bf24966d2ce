// A scene -> a TikZ picture, for `\input` in a paper: needs \usepackage{tikz} alone. Looks are styles, so that a paper
// can change them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagram/match.hpp"
#include "napkin/pictures.hpp"
#include "text/escape.hpp"

namespace napkin {
namespace {

constexpr std::string_view head =
    R"(% Drawn by napkin. Needs \usepackage{tikz}; styles may be changed after the first line.
\begin{tikzpicture}[x=0.75pt, y=-0.75pt, line width=0.8pt, every node/.style={inner sep=0, font=\sffamily\scriptsize},
  napkin outermost/.style={black}, napkin between/.style={violet, dash pattern=on 6pt off 2pt},
  napkin shared/.style={orange!85!black, dash pattern=on 8pt off 2pt}, napkin registers/.style={green!45!black, dash pattern=on 3pt off 1.5pt},
  napkin fragments/.style={blue!80!black, line width=1.2pt},
  napkin shape/.style={fill=black!4, line join=round}, napkin separator/.style={gray, dash pattern=on 3pt off 3pt, line width=0.5pt},
  napkin region/.style={fill=yellow!25, draw=none}, napkin span/.style={gray, line width=0.5pt}]
)";

std::string_view style(Ink ink) {
  constexpr std::string_view names[] = {"outermost", "between", "shared", "registers", "fragments"};
  return names[static_cast<std::size_t>(ink)];
}

std::string point(Point p) {
  const auto shown = [](double value) { return fmt::format("{:g}", std::round(value * 100) / 100); };
  return fmt::format("({},{})", shown(p.x), shown(p.y));
}

std::string look(const Scene& scene, const Mark& mark) {
  if (mark.level) return "napkin " + std::string(style(scene.levels.at(*mark.level).ink));
  if (mark.kind == MarkKind::separator || mark.kind == MarkKind::span) return "napkin " + std::string(name(mark.kind));
  return "";
}

std::string path_of(MarkKind kind, const Line& line) {
  std::string text;
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const auto& to = line.points[i];
    if (i > 0) {
      const auto& from = line.points[i - 1];
      const double middle = (from.x + to.x) / 2;
      const bool bends = kind == MarkKind::wire && from.y != to.y;
      text +=
          bends ? fmt::format(" .. controls {} and {} .. ", point({middle, from.y}), point({middle, to.y})) : " -- ";
    }
    text += point(to);
  }
  return line.closed ? text + " -- cycle" : text;
}

std::string draw(const Scene& scene, const Mark& mark, const Line& line) {
  const auto looks = look(scene, mark);
  if (line.points.size() == 1)
    return fmt::format("\\fill[{}] {} circle[radius=2.2pt];\n", looks, point(line.points[0]));
  if (line.closed) return fmt::format("\\draw[napkin shape] {};\n", path_of(mark.kind, line));
  const auto rounded =
      mark.kind == MarkKind::cup ? (looks.empty() ? "rounded corners=6pt" : ", rounded corners=6pt") : "";
  return fmt::format("\\draw[{}{}] {};\n", looks, rounded, path_of(mark.kind, line));
}

std::string draw(const Mark& mark, const Words& words) {
  constexpr std::string_view anchors[] = {"base west", "base", "base east"};
  auto text = tex(words.text);
  if (words.barred) text = "$\\overline{\\mbox{" + text + "}}$";
  if (mark.kind == MarkKind::array_name || mark.kind == MarkKind::title) text = "\\textbf{" + text + "}";
  if (mark.kind == MarkKind::function_name) text = "\\textit{" + text + "}";
  return fmt::format("\\node[anchor={}] at {} {{{}}};\n", anchors[static_cast<std::size_t>(words.anchor)],
                     point({words.at.x, words.at.y + 4}), text);
}

}  // namespace

std::string emit_tikz(const Scene& scene) {
  std::string text(head);
  for (const auto& mark : scene.marks)
    text += match(
        mark.shape, [&](const Line& line) { return draw(scene, mark, line); },
        [&](const Area& a) {
          return fmt::format("\\fill[napkin region] {} rectangle {};\n", point({a.x, a.y}),
                             point({a.x + a.width, a.y + a.height}));
        },
        [&](const Words& words) { return draw(mark, words); });
  return text + "\\end{tikzpicture}\n";
}

}  // namespace napkin
