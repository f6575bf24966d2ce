// Wires that are drawn from left to right: one pen each, lifted where the wire ends or is labelled.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "scene/levels.hpp"
#include "scene/rows.hpp"

namespace napkin::scene {

// What determines the looks and words of a value's wires.
struct Inks {
  const Diagram& diagram;
  const Circuit& circuit;
  const Levels* levels = nullptr;  // none without a machine

  std::optional<std::size_t> home(const Lane& lane) const {
    return levels ? std::optional(levels->home.at(lane.value)) : std::nullopt;
  }
};

class Pens {
 public:
  Pens(const Inks& inks, std::vector<Mark>& marks) : inks_(inks), marks_(marks) {}

  void put(const Lane& lane, Point at) { lines_[key(lane)] = {{at}, inks_.home(lane)}; }
  // Continues the wire at another level of memory.
  void move_to(const Lane& lane, std::optional<std::size_t> level);
  bool down(const Lane& lane) const { return lines_.contains(key(lane)); }
  double height(const Lane& lane) const { return lines_.at(key(lane)).points.back().y; }
  // Draws the wire level to `x`, or bending to another height between `begin` and `end`.
  void level(const Lane& lane, double x);
  void bend(const Lane& lane, double begin, double end, double y);
  // The wire continues as another one.
  void rename(const Lane& from, const Lane& to);
  void lift(const Lane& lane);
  void lift_all();
  Mark marked(MarkKind kind, const Lane& lane, Line line) const;  // at the value's own level

 private:
  using Key = std::tuple<std::size_t, std::optional<WireId>, bool>;
  static Key key(const Lane& lane) { return {lane.value, lane.wire, lane.copy}; }
  struct Stroke {
    std::vector<Point> points;
    std::optional<std::size_t> level;
  };
  void lift(const Key& key, const Stroke&);

  const Inks& inks_;
  std::vector<Mark>& marks_;
  std::map<Key, Stroke> lines_;
};

}  // namespace napkin::scene
