// Pens add points only where a wire turns, so that a straight wire is one segment.
#include "scene/pens.hpp"

#include <algorithm>

namespace napkin::scene {
namespace {

void add_point(std::vector<Point>& points, Point to) {
  const auto count = points.size();
  if (count > 0 && points.back() == to) return;
  if (count > 1 && points[count - 1].y == to.y && points[count - 2].y == to.y)
    points.back() = to;
  else
    points.push_back(to);
}

}  // namespace

void Pens::level(const Lane& lane, double x) {
  auto& points = lines_.at(key(lane)).points;
  add_point(points, {x, points.back().y});
}

void Pens::bend(const Lane& lane, double begin, double end, double y) {
  auto& points = lines_.at(key(lane)).points;
  add_point(points, {begin, points.back().y});
  if (points.back().y != y) add_point(points, {end, y});
}

void Pens::move_to(const Lane& lane, std::optional<std::size_t> level) {
  auto& stroke = lines_.at(key(lane));
  if (stroke.level == level) return;
  lift(key(lane), stroke);
  stroke = {{stroke.points.back()}, level};
}

void Pens::rename(const Lane& from, const Lane& to) {
  auto node = lines_.extract(key(from));
  node.key() = key(to);
  lines_.insert(std::move(node));
  move_to(to, inks_.home(to));
}

Mark Pens::marked(MarkKind kind, const Lane& lane, Line line) const {
  Mark mark{kind, std::move(line)};
  const auto& value = inks_.circuit.values[lane.value];
  mark.array = value.name;
  mark.level = inks_.home(lane);
  if (lane.wire) mark.axis = inks_.diagram.at(*lane.wire).name;
  return mark;
}

void Pens::lift(const Key& key, const Stroke& stroke) {
  if (stroke.points.size() < 2) return;
  const Lane lane{std::get<0>(key), std::get<1>(key), std::get<2>(key)};
  marks_.push_back(marked(MarkKind::wire, lane, {stroke.points}));
  marks_.back().level = stroke.level;
}

void Pens::lift(const Lane& lane) {
  const auto found = lines_.find(key(lane));
  if (found == lines_.end()) return;
  lift(found->first, found->second);
  lines_.erase(found);
}

void Pens::lift_all() {
  for (const auto& [key, stroke] : lines_) lift(key, stroke);
  lines_.clear();
}

}  // namespace napkin::scene
