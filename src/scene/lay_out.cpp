// A diagram -> a scene: rows one below another, broken between statements where the width is full.
#include <algorithm>
#include <limits>

#include "scene/row_marks.hpp"

namespace napkin {
namespace {

using namespace scene;

constexpr double margin = 24, above_rows = 36, row_gap = 48;

// Functions before which a row may begin: the first of each statement, or any where one statement alone is too wide.
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

std::vector<std::size_t> all_in_one(const Circuit& circuit) { return {0, circuit.functions.size()}; }

void add_title(Scene& scene) {
  const auto text = elided(scene.title, 600);
  Mark mark{MarkKind::title, Words{{margin, margin}, Anchor::start, text, text_width(text) * 1.25}};
  mark.id = "title";
  if (text != scene.title) mark.about = scene.title;
  scene.marks.push_back(std::move(mark));
}

std::string described(const Circuit& circuit) {
  std::string text;
  for (const auto& function : circuit.functions) {
    const auto& made = circuit.values[function.makes].name;
    text += function.about + (made.empty() ? "; " : "; this is " + made + ". ");
  }
  return text;
}

}  // namespace

Scene lay_out(const Diagram& diagram, const Drawing& drawing) {
  const auto all = circuit(diagram);
  const Inks inks{diagram, all};
  auto one = rows(all, all_in_one(all));
  place(one);
  Said first;
  auto broken = rows(all, break_rows(all, draw(inks, one.front(), first), drawing.width));
  place(broken);

  Scene scene;
  scene.title = diagram.name;
  scene.description = described(all);
  add_title(scene);
  scene.width = std::get<Words>(scene.marks[0].shape).width + 2 * margin;
  double y = margin + above_rows;
  Said said;
  for (const auto& row : broken) {
    const auto size = heights(row);
    auto drawn = draw(inks, row, said);
    for (auto& mark : drawn.marks) {
      move(mark, margin, y - size.top);
      scene.marks.push_back(std::move(mark));
    }
    y += size.bottom - size.top + row_gap + array_gap;
    scene.width = std::max(scene.width, drawn.width + 2 * margin);
  }
  scene.height = y - row_gap;
  return scene;
}

}  // namespace napkin
