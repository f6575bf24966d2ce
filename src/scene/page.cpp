// Places rows one below another, broken between statements when the width is full.
#include "scene/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace napkin::scene {
namespace {

constexpr double margin = 24, above_rows = 36, row_gap = 36, figure_line = 24, level_column = 72;

// Functions at which a row may begin: the first of each statement, or any one if a single statement is too wide.
std::vector<std::size_t> break_rows(const Circuit& circuit, const DrawnRow& one, double width) {
  std::vector<std::size_t> breaks = {0};
  const auto count = circuit.functions.size();
  const auto begin_of = [&](std::size_t f) { return f == 0 ? 0 : one.ends[f - 1]; };
  std::size_t last_possible = 0;
  for (std::size_t f = 0; f < count; ++f) {
    if (f > 0 && circuit.functions[f].statement != circuit.functions[f - 1].statement) last_possible = f;
    if (one.ends[f] - begin_of(breaks.back()) <= width || f == breaks.back()) continue;
    breaks.push_back(last_possible > breaks.back() ? last_possible : f);
  }
  breaks.push_back(count);
  return breaks;
}

struct Heights {
  double top = std::numeric_limits<double>::infinity(), bottom = -top;
};

Heights heights(const Row& row) {
  Heights all;
  const auto add = [&](const Lanes& lanes) {
    for (const auto& lane : lanes) all.top = std::min(all.top, lane.y), all.bottom = std::max(all.bottom, lane.y);
  };
  add(row.start);
  for (const auto& step : row.steps) add(step.in), add(step.out);
  return all.top <= all.bottom ? all : Heights{0, 0};
}

void move(Mark& mark, double dx, double dy) {
  if (auto* line = std::get_if<Line>(&mark.shape)) {
    for (auto& point : line->points) point.x += dx, point.y += dy;
  } else if (auto* words = std::get_if<Words>(&mark.shape)) {
    words->at.x += dx, words->at.y += dy;
  } else {
    auto& area = std::get<Area>(mark.shape);
    area.x += dx, area.y += dy;
  }
}

// The words for a level's work. At the outermost level the transfers are drawn where they happen, so only the memory is
// given; for deeper levels all of it is in one place.
std::string work_words(const Figures& at, bool outermost) {
  if (outermost) return at.holds;
  return fmt::format("H {} in, {} out; {}", at.moves_all(false), at.moves_all(true), at.holds);
}

double least_work(const std::vector<Figures>& figures) {
  double most = 0;
  for (std::size_t i = 0; i < figures.size(); ++i)
    most = std::max(most, text_width(work_words(figures[i], i == 0)) + level_column);
  return most;
}

double widest_of(const Inks& inks, const std::vector<Row>& rows, Said said, double first_work) {
  double widest = 0;
  for (const auto& row : rows)
    widest = std::max(widest, draw(inks, row, said, &row == &rows.front() ? first_work : 0).width);
  return widest;
}

}  // namespace

Page::Page(double width, std::string title, std::string description) : width_(width) {
  scene_.title = std::move(title);
  scene_.description = std::move(description);
  write(MarkKind::title, margin, margin, scene_.title, 1.25);
  scene_.marks.back().id = "title";
  y_ = margin + 20;
}

void Page::add_heading(const std::string& words) {
  y_ += 12;
  write(MarkKind::note, margin, y_, words, 1);
  y_ += 12;
}

void Page::add(const Inks& inks, const std::vector<Figures>& figures) {
  said_.loaded.clear(), said_.saved.clear(), said_.parts.clear();
  bool first = true;
  for (const auto& row : broken(inks, least_work(figures))) {
    const auto size = heights(row);
    auto drawn = draw(inks, row, said_, first ? least_work(figures) : 0);
    const std::size_t moves = drawn.load.arrays.empty() && drawn.save.arrays.empty() ? 0 : 1;
    const auto lines = static_cast<double>(first ? figures.size() : std::min(moves, figures.size()));
    y_ += above_rows + (lines == 0 ? 0 : figure_line * lines + 12);
    if (lines > 0) add_figures(drawn, figures, first);
    first = false;
    for (auto& mark : drawn.marks) {
      move(mark, margin, y_ - size.top);
      scene_.marks.push_back(std::move(mark));
    }
    y_ += size.bottom - size.top + row_gap;
    scene_.width = std::max(scene_.width, drawn.width + 2 * margin);
  }
}

bool Page::says(const std::string& end) const {
  return std::ranges::any_of(scene_.marks, [&](const Mark& mark) {
    const auto* words = std::get_if<Words>(&mark.shape);
    return words && mark.kind == MarkKind::wire_size && words->text.ends_with(end);
  });
}

void Page::add_legend() {
  double x = margin;
  y_ += 12;
  for (std::size_t level = 0; level < scene_.levels.size(); ++level) {
    if (!is_used(level)) continue;
    const Line line{{{x, y_}, {x + 40, y_}}};
    Mark sample{MarkKind::wire, line};
    sample.level = level;
    scene_.marks.push_back(sample);
    write(MarkKind::note, x + 48, y_, scene_.levels[level].name, 1);
    x += 72 + text_width(scene_.levels[level].name);
  }
  y_ += 12;
}

Scene Page::end() {
  scene_.height = y_ + margin;
  return std::move(scene_);
}

// The exact width of a row is known only after drawing it. If a row is too wide, all rows are broken earlier, and then
// rows that fit side by side are joined again.
std::vector<Row> Page::broken(const Inks& inks, double first_work) const {
  auto one = rows(inks.circuit, {0, inks.circuit.functions.size()});
  place(one);
  Said first;
  const auto drawn = draw(inks, one.front(), first);
  const auto widest = [&](const std::vector<std::size_t>& breaks) {
    auto all = rows(inks.circuit, breaks);
    place(all);
    return widest_of(inks, all, said_, first_work);
  };
  std::vector<std::size_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (double share = 1; share > 0.3 && least > width_; share -= 0.1) {
    const auto breaks = break_rows(inks.circuit, drawn, width_ * share);
    if (const auto width = widest(breaks); width < least) best = breaks, least = width;
  }
  for (std::size_t i = 1; i + 1 < best.size();) {
    auto fewer = best;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (widest(fewer) <= width_)
      best = std::move(fewer);
    else
      ++i;
  }
  auto all = rows(inks.circuit, best);
  place(all);
  return all;
}

void Page::write(MarkKind kind, double x, double y, const std::string& words, double size) {
  const auto text = elided(words, width_ / size);
  const auto taken = text_width(text) * size;
  scene_.marks.push_back({kind, Words{{x, y}, Anchor::start, text, taken}});
  if (text != words) scene_.marks.back().about = words;
  scene_.width = std::max(scene_.width, x + taken + margin);
}

bool Page::is_used(std::size_t level) const {
  return std::any_of(scene_.marks.begin(), scene_.marks.end(), [&](const Mark& mark) { return mark.level == level; });
}

// Writes the table above the columns: each figure over what it measures. The memory of a kernel, and its transfers at
// deeper levels, are above its first row only.
void Page::add_figures(const DrawnRow& drawn, const std::vector<Figures>& figures, bool first) {
  const auto &load = drawn.load, &save = drawn.save;
  const auto begin = std::max(load.to, level_column), end = save.arrays.empty() ? drawn.width : save.from;
  double y = y_ - above_rows - 6 - figure_line * static_cast<double>(first ? figures.size() : 1);
  for (std::size_t i = 0; i < figures.size(); ++i, y += figure_line) {
    const auto& at = figures[i];
    if (i > 0 && !first) break;
    write(MarkKind::figure, margin, y, at.level, 1);
    if (i == 0 && !load.arrays.empty()) add_figure(load.from, load.to, y, "H " + at.moves(load.arrays, false));
    if (i == 0 && !save.arrays.empty()) add_figure(save.from, save.to, y, "H " + at.moves(save.arrays, true));
    if (first) add_figure(begin, end, y, work_words(at, i == 0));
  }
}

void Page::add_figure(double from, double to, double y, const std::string& words) {
  const auto x0 = margin + from + 2, x1 = margin + to - 2;
  const Line line{{{x0, y + 10}, {x1, y + 10}}};
  const Mark mark{MarkKind::span, line};
  scene_.marks.push_back(mark);
  write(MarkKind::figure, x0 + 2, y, words, 1);
}

std::string described(const Circuit& circuit) {
  std::string text;
  for (const auto& function : circuit.functions) {
    const auto& made = circuit.values[function.makes].name;
    text += function.about + (made.empty() ? "; " : "; this is " + made + ". ");
  }
  return text;
}

}  // namespace napkin::scene
