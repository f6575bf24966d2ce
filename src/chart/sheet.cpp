#include "chart/sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace napkin::chart {
namespace {

constexpr double most_room = 900;  // width of words for which none is given

struct Box {
  double left, top, right, bottom;
};
Box box(const Words& words) {
  const double before = words.anchor == Anchor::start    ? 0
                        : words.anchor == Anchor::middle ? words.width / 2
                                                         : words.width;
  return {words.at.x - before, words.at.y - 8, words.at.x - before + words.width, words.at.y + 8};
}
bool meet(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Rounds up to 1, 2 or 5 times a power of ten, or to a power of two.
double round_step(double least, double base) {
  if (base == 2) return std::exp2(std::ceil(std::log2(least)));
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (power * factor >= least * (1 - 1e-9)) return power * factor;
  return power * 10;
}
constexpr double most_ticks = 6;

// Removes zeros from a tick: "10.0 us" becomes "10 us".
std::string without_zeros(std::string words) {
  const auto dot = words.find('.');
  if (dot == std::string::npos) return words;
  auto end = words.find_first_not_of("0123456789", dot + 1);
  if (end == std::string::npos) end = words.size();
  const auto last = words.find_last_not_of('0', end - 1);
  return words.erase(last == dot ? dot : last + 1, end - (last == dot ? dot : last + 1));
}

std::string cell_words(const Cell& cell) {
  if (const auto* words = std::get_if<std::string>(&cell)) return *words;
  return fmt::format("{:.4g}", std::get<double>(cell));
}

std::string described(const Data& data) {
  std::string text;
  for (const auto& row : data.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      text += fmt::format("{}{} {}", i ? ", " : "", data.columns[i], cell_words(row[i]));
    text += ". ";
  }
  return text;
}

}  // namespace

double Scale::at(double number) const {
  const auto place = [&](double n) { return logarithmic ? std::log10(n) : n; };
  return begin + (place(number) - place(low)) / (place(high) - place(low)) * (end - begin);
}

std::vector<double> Scale::ticks() const {
  std::vector<double> all;
  if (logarithmic && base == 2) {
    const double first = std::round(std::log2(low)), last = std::round(std::log2(high));
    const double step = std::ceil((last - first) / 9);
    for (double power = first; power <= last; power += step) all.push_back(std::exp2(power));
    return all;
  }
  if (logarithmic) {
    const double first = std::round(std::log10(low)), last = std::round(std::log10(high));
    const double step = std::ceil((last - first) / 9);
    for (double power = first; power <= last; power += step)
      for (const double factor : {1.0, 2.0, 5.0})
        if (factor == 1 || (last - first <= 2 && power < last)) all.push_back(factor * std::pow(10, power));
    return all;
  }
  const double step = round_step(high / most_ticks, base);
  for (int i = 0; step * i <= high * (1 + 1e-9); ++i) all.push_back(step * i);
  return all;
}

Scale from_zero(double high, double begin, double end, double base) {
  if (high <= 0) high = 1;
  const double step = round_step(high / most_ticks, base);
  return {0, step * std::ceil(high / step * (1 - 1e-9)), begin, end, false, base};
}

Scale decades(double low, double high, double begin, double end) {
  double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  if (first == last) last += 1;
  return {std::pow(10, first), std::pow(10, last), begin, end, true};
}

Scale doublings(double low, double high, double begin, double end) {
  double first = std::floor(std::log2(low)), last = std::ceil(std::log2(high));
  if (first == last) last += 1;
  return {std::exp2(first), std::exp2(last), begin, end, true, 2};
}

namespace {

// Breaks words at spaces into lines of at most the given width.
std::vector<std::string> lines_of(const std::string& words, double room) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < words.size();) {
    auto to = words.size();
    while (text_width(std::string_view(words).substr(from, to - from)) > room) {
      const auto space = words.rfind(' ', to - 1);
      if (space == std::string::npos || space <= from) break;
      to = space;
    }
    lines.push_back(words.substr(from, to - from));
    from = to + 1;
  }
  return lines;
}

}  // namespace

Sheet::Sheet(const std::string& title, double room) : room_(room) {
  scene_.title = title;
  y = margin;
  for (const auto& line : lines_of(title, room / 1.25)) {
    const auto words = elided(line, room / 1.25);
    scene_.marks.push_back({MarkKind::title, Words{{margin, y}, Anchor::start, words, text_width(words) * 1.25},
                            y == margin ? "title" : ""});
    if (words != line) scene_.marks.back().about = line;
    y += 20;
  }
}

void Sheet::head(const std::string& words) {
  y += 12;
  y += line_height * static_cast<double>(write_lines(MarkKind::note, {margin, y}, words, room_)) - 2;
}

void Sheet::note(const std::string& words) {
  y += line_height * static_cast<double>(write_lines(MarkKind::tick, {margin, y}, words, room_));
}

void Sheet::write(MarkKind kind, Point at, Anchor anchor, const std::string& words, double room, const Of& of) {
  const auto text = elided(words, std::min(room, most_room));
  Mark mark{kind, Words{at, anchor, text, text_width(text)}};
  mark.array = of.array;
  mark.about = !of.about.empty() ? of.about : text == words ? "" : words;
  scene_.marks.push_back(std::move(mark));
}

std::size_t Sheet::write_lines(MarkKind kind, Point at, const std::string& words, double room, const Of& of) {
  const auto lines = lines_of(words, room);
  for (std::size_t i = 0; i < lines.size(); ++i)
    write(kind, {at.x, at.y + line_height * static_cast<double>(i)}, Anchor::start, lines[i], most_room, of);
  return lines.size();
}

Point Sheet::free_place(Point at, Anchor anchor, const std::string& words, Point step) const {
  const auto taken = [&](Point place) {
    const Words here{place, anchor, words, text_width(words)};
    return std::ranges::any_of(scene_.marks, [&](const Mark& mark) {
      const auto* other = std::get_if<Words>(&mark.shape);
      return other && meet(box(here), box(*other));
    });
  };
  while (taken(at)) at = {at.x + step.x, at.y + step.y};
  return at;
}

void Sheet::write_near(MarkKind kind, Point at, Anchor anchor, const std::string& whole, double down, const Of& of) {
  const auto words = elided(whole, most_room);
  write(kind, free_place(at, anchor, words, {0, down}), anchor, words, most_room, of);
}

void Sheet::add(MarkKind kind, Line line, const Of& of) {
  Mark mark{kind, std::move(line)};
  mark.series = of.series, mark.array = of.array, mark.about = of.about;
  scene_.marks.push_back(std::move(mark));
}

void Sheet::add(MarkKind kind, Area area, const Of& of) {
  Mark mark{kind, area};
  mark.series = of.series, mark.array = of.array, mark.about = of.about;
  scene_.marks.push_back(std::move(mark));
}

void Sheet::hatch(const Area& area) {
  constexpr double apart = 7;
  const double right = area.x + area.width, bottom = area.y + area.height;
  for (double x = area.x - area.height + apart; x < right; x += apart) {
    const double from = std::max(x, area.x), to = std::min(x + area.height, right);
    if (to > from) add(MarkKind::hatch, Line{{{from, bottom - (from - x)}, {to, bottom - (to - x)}}});
  }
}

void Sheet::axis_below(const Scale& scale, double top, double bottom, const std::function<std::string(double)>& words,
                       const std::string& title) {
  for (const auto tick : scale.ticks()) {
    const double x = scale.at(tick);
    add(MarkKind::grid, Line{{{x, top}, {x, bottom}}});
    write(MarkKind::tick, {x, bottom + 14}, Anchor::middle, without_zeros(words(tick)));
  }
  add(MarkKind::axis, Line{{{scale.begin, bottom}, {scale.end, bottom}}});
  write(MarkKind::tick, {(scale.begin + scale.end) / 2, bottom + 34}, Anchor::middle, title);
}

void Sheet::axis_beside(const Scale& scale, double left, double right, const std::function<std::string(double)>& words,
                        const std::string& title) {
  for (const auto tick : scale.ticks()) {
    const double y_here = scale.at(tick);
    add(MarkKind::grid, Line{{{left, y_here}, {right, y_here}}});
    write(MarkKind::tick, {left - 8, y_here}, Anchor::end, without_zeros(words(tick)));
  }
  add(MarkKind::axis, Line{{{left, scale.begin}, {left, scale.end}}});
  write(MarkKind::tick, {margin, scale.end - 40}, Anchor::start, title);
}

Chart Sheet::end(std::string name, Data data) {
  scene_.description = described(data);
  const auto behind = [](const Mark& mark) {
    return mark.kind == MarkKind::grid || mark.kind == MarkKind::barrier || mark.kind == MarkKind::span;
  };
  std::stable_partition(scene_.marks.begin(), scene_.marks.end(), behind);
  double right = 0, bottom = y;
  for (const auto& mark : scene_.marks) {
    if (const auto* words = std::get_if<Words>(&mark.shape))
      right = std::max(right, box(*words).right), bottom = std::max(bottom, box(*words).bottom);
    if (const auto* area = std::get_if<Area>(&mark.shape)) right = std::max(right, area->x + area->width);
    if (const auto* line = std::get_if<Line>(&mark.shape))
      for (const auto& point : line->points) right = std::max(right, point.x);
  }
  scene_.width = std::ceil(right + margin);
  scene_.height = std::ceil(bottom + margin);
  return {std::move(name), std::move(scene_), std::move(data)};
}

}  // namespace napkin::chart
