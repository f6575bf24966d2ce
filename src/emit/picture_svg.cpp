// A scene -> SVG: text as text, looks as classes of one style sheet.
#include "emit/picture_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "diagram/match.hpp"
#include "napkin/emit.hpp"
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
.bar.s0, .again.s0, .point.s0 { fill: #0b57d0 } .limit.s0, .curve.s0 { stroke: #0b57d0 }
.bar.s1, .again.s1, .point.s1 { fill: #c25a00 } .limit.s1, .curve.s1 { stroke: #c25a00 }
.bar.s2, .again.s2, .point.s2 { fill: #1a7f37 } .limit.s2, .curve.s2 { stroke: #1a7f37 }
.bar.s3, .again.s3, .point.s3 { fill: #8a3fa0 } .limit.s3, .curve.s3 { stroke: #8a3fa0 }
.bar.s4, .again.s4, .point.s4 { fill: #b3261e } .limit.s4, .curve.s4 { stroke: #b3261e }
.bar.s5, .again.s5, .point.s5 { fill: #00788a } .limit.s5, .curve.s5 { stroke: #00788a }
.bar.s6, .again.s6, .point.s6 { fill: #7a6000 } .limit.s6, .curve.s6 { stroke: #7a6000 }
.bar.s7, .again.s7, .point.s7 { fill: #5c5c5c } .limit.s7, .curve.s7 { stroke: #5c5c5c }
.pointwise, .mask, .normalisation, .reduction, .reindexing { fill: #f4f1e8; stroke: #1c1c1c; stroke-width: 1.4; stroke-linejoin: round }
)";

constexpr double round_corner = 10;
constexpr std::size_t series_looks = 8;

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
  if (mark.series) all += fmt::format(" s{}", *mark.series % series_looks);
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

// Points of different series are of different sizes: one on another stays in sight.
double radius(const Mark& mark) {
  return mark.kind == MarkKind::point
             ? 5.5 - 1.5 * static_cast<double>(std::min<std::size_t>(2, mark.series.value_or(0)))
             : 3;
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

std::string_view svg_style() { return sheet; }

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

std::string emit_svg(const Scene& scene) { return svg_element(scene, {"", sheet}); }

}  // namespace napkin
