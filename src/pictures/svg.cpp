// A scene -> SVG: text as text, looks as classes of one style sheet.
#include "pictures/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "diagram/match.hpp"
#include "napkin/pictures.hpp"
#include "text/escape.hpp"

namespace napkin {
namespace {

constexpr std::string_view sheet = R"(
.paper { fill: #ffffff }
text { font: 12px "DejaVu Sans", Verdana, sans-serif; fill: #1c1c1c }
.title { font-size: 15px; font-weight: bold }
.array { font-weight: bold }
.size { fill: #5c5c5c; font-size: 11px }
.function { font-style: italic }
.barred { text-decoration: overline }
.middle { text-anchor: middle }
.end { text-anchor: end }
.wire, .cup, .onward { fill: none; stroke: #1c1c1c; stroke-width: 1.6 }
.separator { fill: none; stroke: #8a8a8a; stroke-dasharray: 5 4 }
.dot { fill: #1c1c1c }
.span { fill: none; stroke: #8a8a8a }
.region { fill: #fff0c2 }
.outermost { stroke: #1c1c1c }
.between { stroke: #7a3fa0; stroke-dasharray: 12 3 }
.shared { stroke: #d2660a; stroke-width: 2.2; stroke-dasharray: 9 2.5 }
.registers { stroke: #1a7f37; stroke-width: 2.2; stroke-dasharray: 3.5 2 }
.fragments { stroke: #0b57d0; stroke-width: 3 }
.dot.shared { fill: #d2660a } .dot.registers { fill: #1a7f37 } .dot.between { fill: #7a3fa0 } .dot { stroke: none }
.onward { stroke-dasharray: none }
text.outermost, text.between, text.shared, text.registers, text.fragments { stroke: none; stroke-dasharray: none }
text.outermost { fill: #1c1c1c } text.between { fill: #7a3fa0 } text.shared { fill: #b35205 } text.registers { fill: #1a7f37 }
.axis { fill: none; stroke: #5c5c5c }
.grid { fill: none; stroke: #dddddd }
.tick { fill: #5c5c5c; font-size: 11px }
.label { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; stroke-linejoin: round }
.limit { fill: none; stroke: #1c1c1c; stroke-width: 1.8 }
.bar { fill: #5c5c5c }
.again { fill: #5c5c5c; fill-opacity: .35 }
.hatch { fill: none; stroke: #b8b8b8 }
.cell { fill: #c25a00 } .cell.s0 { fill-opacity: .04 } .cell.s1 { fill-opacity: .12 } .cell.s2 { fill-opacity: .2 } .cell.s3 { fill-opacity: .3 }
.cell.s4 { fill-opacity: .42 } .cell.s5 { fill-opacity: .55 } .cell.s6 { fill-opacity: .7 } .cell.s7 { fill-opacity: .85 }
.barrier { fill: none; stroke: #1c1c1c; stroke-dasharray: 1.5 3 }
.frame { fill: none; stroke: #8a8a8a }
.curve { fill: none; stroke-width: 2 }
.pointwise, .mask, .normalisation, .reduction, .reindexing { fill: #f4f1e8; stroke: #1c1c1c; stroke-width: 1.4; stroke-linejoin: round }
)";

// Colours of series on white and on dark paper, in the order of src/chart/kinds.hpp. Those of arrays are the same on
// both.
struct Colours {
  std::string_view light, dark;
};
constexpr Colours meanings[] = {{"#0b57d0", "#7db1ff"}, {"#c25a00", "#ff9d4d"}, {"#1a7f37", "#5fce7f"},
                                {"#8a3fa0", "#cf9bea"}, {"#b3261e", "#ff8a80"}, {"#00788a", "#4dd0e1"},
                                {"#7a6000", "#d9c04a"}, {"#5c5c5c", "#b5bac0"}, {"#a8327a", "#ff8fcb"},
                                {"#0a7bb5", "#67c1f2"}, {"#4b3a8c", "#a99bf5"}};
constexpr std::string_view arrays[] = {
    "#e8a0f4", "#acc434", "#1cc4f4", "#f49470", "#a088ac", "#34ac88", "#ac9440", "#a0c4ac", "#5894f4", "#e870ac",
    "#7064d0", "#a06470", "#b87ce8", "#a0ace8", "#40d088", "#708870", "#f4ac10", "#b858ac", "#64a028", "#4c5894",
    "#dc6464", "#10a0c4", "#dcacb8", "#707094", "#dc7c1c", "#7cacb8", "#b8a088", "#884c40", "#406434", "#887c10",
    "#34d0c4", "#b87c64", "#d0b87c", "#c44c70", "#d08894", "#7c4c70", "#289464", "#88b870", "#887ce8", "#c494d0"};

std::string look(std::size_t series, bool dark) {
  constexpr auto first = std::size(meanings);
  if (series >= first) return fmt::format("rect.s{} {{ fill: {} }}\n", series, arrays[series - first]);
  return fmt::format(".bar.s{0}, .again.s{0}, .point.s{0} {{ fill: {1} }} .limit.s{0}, .curve.s{0} {{ stroke: {1} }}\n",
                     series, dark ? meanings[series].dark : meanings[series].light);
}

// Those of arrays begin anew where they end.
std::size_t series_look(std::size_t series) {
  constexpr auto first = std::size(meanings);
  return series < first ? series : first + (series - first) % std::size(arrays);
}

// Of those series that the picture has: shades of cells are none.
std::string style_of(const Scene& scene) {
  std::set<std::size_t> used;
  for (const auto& mark : scene.marks)
    if (mark.series && mark.kind != MarkKind::cell) used.insert(series_look(*mark.series));
  auto all = std::string(sheet);
  for (const auto series : used) all += look(series, false);
  return all;
}

constexpr double round_corner = 10;

std::string coordinate(double value) { return fmt::format("{:g}", std::round(value * 10) / 10); }
std::string at(Point p) { return coordinate(p.x) + " " + coordinate(p.y); }

double distance(Point a, Point b) { return std::hypot(a.x - b.x, a.y - b.y); }
Point towards(Point from, Point to, double by) {
  const auto whole = distance(from, to);
  return {from.x + (to.x - from.x) * by / whole, from.y + (to.y - from.y) * by / whole};
}

// Slopes become bends that begin and end level.
std::string smooth_path(const std::vector<Point>& points) {
  auto path = "M" + at(points.front());
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto& a = points[i - 1];
    const auto& b = points[i];
    const double middle = (a.x + b.x) / 2;
    path += a.y == b.y ? "H" + coordinate(b.x) : fmt::format("C{} {} {}", at({middle, a.y}), at({middle, b.y}), at(b));
  }
  return path;
}

std::string rounded_path(const std::vector<Point>& points) {
  auto path = "M" + at(points.front());
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const auto& corner = points[i];
    const double by =
        std::min({round_corner, distance(points[i - 1], corner) / 2, distance(corner, points[i + 1]) / 2});
    path += fmt::format("L{}Q{} {}", at(towards(corner, points[i - 1], by)), at(corner),
                        at(towards(corner, points[i + 1], by)));
  }
  return path + "L" + at(points.back());
}

std::string straight_path(const Line& line) {
  auto path = "M" + at(line.points.front());
  for (std::size_t i = 1; i < line.points.size(); ++i) {
    const auto &a = line.points[i - 1], &b = line.points[i];
    path += a.y == b.y ? "H" + coordinate(b.x) : a.x == b.x ? "V" + coordinate(b.y) : "L" + at(b);
  }
  return line.closed ? path + "Z" : path;
}

std::string path(MarkKind kind, const Line& line) {
  if (kind == MarkKind::wire) return smooth_path(line.points);
  return kind == MarkKind::cup ? rounded_path(line.points) : straight_path(line);
}

std::string_view ink_class(Ink ink) {
  constexpr std::string_view names[] = {"outermost", "between", "shared", "registers", "fragments"};
  return names[static_cast<std::size_t>(ink)];
}

// What is said of a mark, and which array and axis it belongs to.
struct Printed {
  const Scene& scene;
  const SvgUse& use;
  bool of_array = false, titled = false;  // a group around the marks says which array they are of, and their title

  bool has_axis(const Mark& mark) const { return use.detail == SvgDetail::whole && !mark.axis.empty(); }
  bool has_id(const Mark& mark) const {
    return !mark.id.empty() &&
           (use.detail == SvgDetail::whole || (use.detail == SvgDetail::grouped && mark.kind == MarkKind::array_name));
  }
  bool has_title(const Mark& mark) const { return !titled && use.detail != SvgDetail::brief && !mark.about.empty(); }
};

// Kinds that look like all words say in files what they are, and on pages nothing.
bool is_plain(MarkKind kind) {
  return kind == MarkKind::wire_name || kind == MarkKind::note || kind == MarkKind::figure;
}

std::string classes(const Printed& from, const Mark& mark, std::string_view more) {
  std::string all(from.use.detail != SvgDetail::whole && is_plain(mark.kind) ? "" : name(mark.kind));
  all += more;
  if (mark.series) all += fmt::format(" s{}", series_look(*mark.series));
  if (mark.level) all += fmt::format(" {}", ink_class(from.scene.levels.at(*mark.level).ink));
  return all.starts_with(' ') ? all.substr(1) : all;
}

std::string attributes(const Printed& from, const Mark& mark, std::string_view more = "") {
  std::string text = from.has_id(mark) ? fmt::format(" id=\"{}{}\"", from.use.id, xml(mark.id)) : "";
  if (const auto looks = classes(from, mark, more); !looks.empty()) text += fmt::format(" class=\"{}\"", looks);
  if (!mark.array.empty() && !from.of_array) text += fmt::format(" data-array=\"{}\"", xml(mark.array));
  if (from.has_axis(mark)) text += fmt::format(" data-axis=\"{}\"", xml(mark.axis));
  return text;
}

std::string closed(const std::string& tag, const std::string& inside) {
  return inside.empty() ? "/>\n" : fmt::format(">{}</{}>\n", inside, tag);
}

// From half the height of words to the line that they stand on; not every renderer knows how to centre them.
double to_foot(MarkKind kind) { return kind == MarkKind::title ? 5 : 4; }

// Points of memories that lie on another, from the outermost in, are of different sizes and stay in sight.
double radius(const Mark& mark) {
  if (mark.kind != MarkKind::point) return 3;
  constexpr std::size_t registers = 2, cache = 4;
  return mark.series == cache ? 5.5 : mark.series == registers ? 2.5 : 4;
}

std::string_view anchor(Anchor anchor) {
  return anchor == Anchor::middle ? " middle" : anchor == Anchor::end ? " end" : "";
}

// Where the marks end that say the same as the first, or as little.
std::size_t end_of_group(const Scene& scene, std::size_t first, std::size_t end, std::string Mark::*common) {
  std::size_t last = first + 1;
  const auto& said = scene.marks[first].*common;
  while (last < end && scene.marks[last].*common == said) ++last;
  return last;
}

// Lines without names can be one path with others that look alike.
bool can_join(const Printed& from, const Mark& mark) {
  const auto* line = std::get_if<Line>(&mark.shape);
  const bool named = from.has_id(mark) || from.has_title(mark);
  return line && line->points.size() > 1 && !line->closed && !named;
}

// The marks that are drawn with the first: those alike that follow it. In brief, wires of one array that stand between
// its names are among them; nothing of one array lies under another.
std::vector<std::size_t> joined(const Printed& from, std::size_t first, std::size_t end) {
  std::vector<std::size_t> all = {first};
  const auto& marks = from.scene.marks;
  if (!can_join(from, marks[first])) return all;
  const auto looks = attributes(from, marks[first]);
  const bool anywhere = from.of_array && from.use.detail == SvgDetail::brief;
  for (auto i = first + 1; i < end; ++i) {
    if (can_join(from, marks[i]) && attributes(from, marks[i]) == looks)
      all.push_back(i);
    else if (!anywhere)
      break;
  }
  return all;
}

std::string print_together(const Printed& from, const std::vector<std::size_t>& lines) {
  std::string all;
  for (const auto i : lines) all += path(from.scene.marks[i].kind, std::get<Line>(from.scene.marks[i].shape));
  return fmt::format("<path{} d=\"{}\"/>\n", attributes(from, from.scene.marks[lines.front()]), all);
}

std::string print(const Printed& from, const Mark& mark) {
  const auto title = from.has_title(mark) ? fmt::format("<title>{}</title>", xml(mark.about)) : "";
  return match(
      mark.shape,
      [&](const Line& line) {
        if (line.points.size() == 1)
          return fmt::format("<circle{} cx=\"{}\" cy=\"{}\" r=\"{}\"", attributes(from, mark),
                             coordinate(line.points[0].x), coordinate(line.points[0].y), coordinate(radius(mark))) +
                 closed("circle", title);
        return fmt::format("<path{} d=\"{}\"", attributes(from, mark), path(mark.kind, line)) + closed("path", title);
      },
      [&](const Area& area) {
        return fmt::format("<rect{} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", attributes(from, mark),
                           coordinate(area.x), coordinate(area.y), coordinate(area.width), coordinate(area.height)) +
               closed("rect", title);
      },
      [&](const Words& words) {
        const auto more = fmt::format("{}{}", words.barred ? " barred" : "", anchor(words.anchor));
        const auto* quote = from.use.detail == SvgDetail::whole ? "\"" : "";  // HTML needs none
        return fmt::format("<text{0} x={3}{1}{3} y={3}{2}{3}", attributes(from, mark, more), coordinate(words.at.x),
                           coordinate(words.at.y + to_foot(mark.kind)), quote) +
               closed("text", title + xml(words.text));
      });
}

std::string print_each(const Printed& from, std::size_t first, std::size_t end) {
  std::string text;
  std::set<std::size_t> printed;
  for (auto i = first; i < end; ++i) {
    if (printed.contains(i)) continue;
    const auto together = joined(from, i, end);
    printed.insert(together.begin(), together.end());
    text += together.size() > 1 ? print_together(from, together) : print(from, from.scene.marks[i]);
  }
  return text;
}

// Marks that follow each other and say the same are a group that says it once, as `opening` has it.
template <class Print>
std::string in_groups(const Scene& scene, std::size_t first, std::size_t end, std::string Mark::*common,
                      std::string_view opening, const Print& print_group) {
  std::string text;
  for (std::size_t last = 0; first < end; first = last) {
    last = end_of_group(scene, first, end, common);
    const auto& said = scene.marks[first].*common;
    const bool once = last > first + 1 && !said.empty();
    if (once) text += fmt::format(fmt::runtime(opening), xml(said));
    text += print_group(first, last, once);
    if (once) text += "</g>\n";
  }
  return text;
}

std::string print_titled(Printed from, std::size_t begin, std::size_t stop) {
  if (from.use.detail != SvgDetail::grouped) return print_each(from, begin, stop);
  return in_groups(from.scene, begin, stop, &Mark::about, "<g><title>{}</title>\n",
                   [&](std::size_t first, std::size_t end, bool once) {
                     from.titled = once;
                     return print_each(from, first, end);
                   });
}

std::string print_marks(Printed from) {
  const auto all = from.scene.marks.size();
  if (from.use.detail == SvgDetail::whole) return print_each(from, 0, all);
  return in_groups(from.scene, 0, all, &Mark::array, "<g data-array=\"{}\">\n",
                   [&](std::size_t first, std::size_t end, bool once) {
                     from.of_array = once;
                     return print_titled(from, first, end);
                   });
}

}  // namespace

std::string svg_style() {
  auto all = std::string(sheet);
  for (std::size_t i = 0; i < std::size(meanings) + std::size(arrays); ++i) all += look(i, false);
  return all;
}

std::string svg_dark_series() {
  std::string all;
  for (std::size_t i = 0; i < std::size(meanings); ++i) all += look(i, true);
  return all;
}

std::string svg_element(const Scene& scene, const SvgUse& use) {
  const auto width = coordinate(scene.width), height = coordinate(scene.height);
  const auto& id = use.id;
  auto text = fmt::format(
      "<svg{5} id=\"{2}picture\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\" "
      "aria-labelledby=\"{2}picture-title{3}\">\n<title id=\"{2}picture-title\">{4}</title>\n",
      width, height, id, scene.description.empty() ? "" : fmt::format(" {}picture-description", id), xml(scene.title),
      use.style.empty() ? "" : " xmlns=\"http://www.w3.org/2000/svg\"");  // a page has it already
  if (!scene.description.empty())
    text += fmt::format("<desc id=\"{}picture-description\">{}</desc>\n", id, xml(scene.description));
  if (!use.style.empty()) text += fmt::format("<style>{}</style>\n", use.style);
  text += fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", width, height);
  text += print_marks({scene, use}) + "</svg>";
  if (use.detail != SvgDetail::whole) std::erase(text, '\n');  // a byte of each of thousands of marks
  return text + "\n";
}

std::string emit_svg(const Scene& scene) {
  const auto style = style_of(scene);
  return svg_element(scene, {"", style});
}

}  // namespace napkin
