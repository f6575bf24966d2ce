// Boxes cover all wires of their operands. Cups and triangles cover the wires that they act on; these are gathered
// below the wires that they are only woven over, which pass above.
#include "scene/shapes.hpp"

#include <algorithm>

#include "scene/bends.hpp"

namespace napkin::scene {
namespace {

constexpr double rise = 11;
constexpr double most_words = 40 * cell;

class Shape {
 public:
  Shape(const Inks& inks, const Step& step, double x)
      : inks_(inks), function_(inks.circuit.functions[step.function]), step_(step), x_(x) {
    name_ = elided(function_.name, most_words);
    body_.passes.assign(step.end - step.begin, false);
  }

  Body run() {
    if (function_.kind == MarkKind::cup)
      cup();
    else if (triangular())
      triangle();
    else
      box();
    return std::move(body_);
  }

 private:
  const Lane& lane(std::size_t i) const { return step_.in[step_.begin + i]; }
  std::size_t lanes() const { return step_.end - step_.begin; }
  bool acts(const Lane& lane) const {
    return lane.wire && std::find(function_.acts.begin(), function_.acts.end(), *lane.wire) != function_.acts.end();
  }
  bool triangular() const {
    const bool kind = function_.kind == MarkKind::normalisation || function_.kind == MarkKind::reduction;
    return kind && function_.reads.size() == 1 &&
           std::any_of(step_.in.begin() + static_cast<std::ptrdiff_t>(step_.begin),
                       step_.in.begin() + static_cast<std::ptrdiff_t>(step_.end),
                       [&](const Lane& l) { return acts(l); });
  }
  std::vector<Lane> made() const {
    std::vector<Lane> all;
    for (const auto& lane : step_.out)
      if (lane.value == step_.makes) all.push_back(lane);
    return all;
  }

  void outline(MarkKind kind, std::vector<Point> points) {
    Mark mark{kind, Line{std::move(points), true}};
    mark.about = function_.about;
    body_.marks.push_back(std::move(mark));
  }
  void name(Point at, Anchor anchor) {
    Mark mark{MarkKind::function_name, Words{at, anchor, name_, text_width(name_)}};
    if (name_ != function_.name) mark.about = function_.name;
    body_.marks.push_back(std::move(mark));
  }

  // ---- boxes

  void box() {
    const auto out = made();
    const auto& first = lanes() > 0 ? lane(0) : out.front();
    const double top = first.y, height = out.back().y - out.front().y;
    const double bottom = std::max(lanes() > 0 ? lane(lanes() - 1).y : top, top + height);
    const double slant = function_.kind == MarkKind::mask ? cell : function_.kind == MarkKind::reindexing ? cell : 0;
    const double width = text_width(name_) + 2 * cell + 2 * slant;
    body_.end = x_ + width;
    outline(function_.kind, box_points(top - rise, bottom + rise, slant));
    name({x_ + width / 2, (top + bottom) / 2}, Anchor::middle);
    const bool inside = std::all_of(out.begin(), out.end(), [&](const Lane& l) { return l.y >= top && l.y <= bottom; });
    for (const auto& lane : out)
      body_.starts.push_back({lane, {body_.end, inside ? lane.y : top + lane.y - out.front().y}});
  }

  std::vector<Point> box_points(double top, double bottom, double slant) const {
    const double left = x_, right = body_.end, middle = (top + bottom) / 2;
    if (function_.kind == MarkKind::mask)
      return {{left, middle},  {left + slant, top},     {right - slant, top},
              {right, middle}, {right - slant, bottom}, {left + slant, bottom}};
    if (function_.kind == MarkKind::reindexing)
      return {{left, top}, {right, top + slant}, {right, bottom - slant}, {left, bottom}};
    return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
  }

  // ---- triangles

  void triangle() {
    double top = 0, bottom = 0;
    bool any = false;
    for (std::size_t i = 0; i < lanes(); ++i) {
      body_.passes[i] = !acts(lane(i));
      if (body_.passes[i]) continue;
      if (!any) top = lane(i).y;
      bottom = lane(i).y;
      any = true;
    }
    body_.end = x_ + std::max(5 * cell, text_width(name_) + cell);
    outline(function_.kind, triangle_points(top, bottom));
    name({(x_ + body_.end) / 2, bottom + 2 * cell + 6}, Anchor::middle);
    for (const auto& out : made())
      if (!out.wire)
        body_.starts.push_back({out, {body_.end, (top + bottom) / 2}});
      else if (acts(out))
        body_.starts.push_back({out, {body_.end, height_of(*out.wire)}});
  }

  double height_of(WireId wire) const {
    for (std::size_t i = 0; i < lanes(); ++i)
      if (lane(i).wire == wire) return lane(i).y;
    return lane(0).y;
  }

  // One wire enters at the tip; several wires enter at a blunt tip.
  std::vector<Point> triangle_points(double top, double bottom) const {
    const double blunt = top == bottom ? 0 : 5;
    const bool widens = function_.kind == MarkKind::normalisation;
    const double tip = widens ? x_ : body_.end, base = widens ? body_.end : x_;
    if (top == bottom) return {{tip, top}, {base, top - rise}, {base, top + rise}};
    return {{tip, top - blunt}, {base, top - rise}, {base, bottom + rise}, {tip, bottom + blunt}};
  }

  // ---- cups

  struct Pair {
    std::size_t upper, lower;
  };

  std::vector<Pair> pairs() const {
    std::vector<Pair> all;
    for (std::size_t i = 0; i < lanes(); ++i)
      for (std::size_t j = i + 1; acts(lane(i)) && j < lanes(); ++j)
        if (lane(j).wire == lane(i).wire) {
          all.push_back({i, j});
          break;
        }
    std::stable_sort(all.begin(), all.end(), [&](const Pair& a, const Pair& b) {
      return lane(a.lower).y - lane(a.upper).y < lane(b.lower).y - lane(b.upper).y;
    });
    return all;
  }

  void cup() {
    for (std::size_t i = 0; i < lanes(); ++i) body_.passes[i] = !acts(lane(i)) && lane(i).wire;
    const auto all = pairs();
    double reach = x_ + text_width(name_) + 2 * cell;
    for (const auto& pair : all) {
      join(lane(pair.upper), lane(pair.lower), reach);
      reach += cell;
    }
    body_.end = reach;
    if (!all.empty()) name({x_ + 4, (lane(all[0].lower).y + lane(all[0].lower - 1).y) / 2}, Anchor::start);
    for (const auto& out : made())
      if (!out.wire) body_.starts.push_back({out, scalar_start(all)});
  }

  Point scalar_start(const std::vector<Pair>& all) const {
    if (all.empty()) return {x_, lane(0).y};
    const auto& outer = all.back();
    return {body_.end - cell, (lane(outer.upper).y + lane(outer.lower).y) / 2};
  }

  void join(const Lane& upper, const Lane& lower, double reach) {
    Mark mark{MarkKind::cup, Line{{{x_, upper.y}, {reach, upper.y}, {reach, lower.y}, {x_, lower.y}}}};
    mark.about = function_.about;
    mark.level = level(upper);
    body_.marks.push_back(std::move(mark));
  }

  // The level that the function reads from.
  std::optional<std::size_t> level(const Lane& lane) const {
    if (inks_.levels == nullptr) return std::nullopt;
    return inks_.levels->fragments[step_.function] ? inks_.levels->fragment_level : inks_.levels->read[lane.value];
  }

  const Inks& inks_;
  const Function& function_;
  const Step& step_;
  double x_;
  std::string name_;
  Body body_;
};

}  // namespace

Body shape(const Inks& inks, const Step& step, double x) { return Shape(inks, step, x).run(); }

}  // namespace napkin::scene
