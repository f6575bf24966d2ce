// Scene: a diagram as a picture. Every mark has its place, its kind and its words; what prints a scene decides nothing.
//
// Lengths are in units of which a line of small print is 12 high and a letter of fixed width 8 wide; y grows
// downwards. docs/drawing.md explains the notation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "napkin/configure.hpp"

namespace napkin {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

// Where a line slopes it is drawn as a smooth bend that begins and ends level.
struct Line {
  std::vector<Point> points;
  bool closed = false;  // an outline, filled
};
struct Area {
  double x = 0, y = 0, width = 0, height = 0;
};
enum class Anchor : std::uint8_t { start, middle, end };
struct Words {
  Point at;  // of the anchor, at half the height
  Anchor anchor = Anchor::start;
  std::string text;
  double width = 0;     // measured
  bool barred = false;  // a bar above: the next function is woven over this wire
};

// What a mark stands for; its look is the theme's.
enum class MarkKind : std::uint8_t {
  title,
  note,
  separator,  // between the arrays of a tuple
  wire,
  cup,            // wires that are contracted meet
  dot,            // a wire is read twice, or two wires are read as one
  pointwise,      // a box over the wires that it works on
  mask,           // a hexagon
  normalisation,  // a triangle that widens: the axis stays
  reduction,      // a triangle that narrows: the axis ends
  reindexing,     // a slanted box: positions are read elsewhere
  function_name,
  array_name,
  wire_name,
  wire_size,
  onward,  // the row is full: the wire goes on below
  region,  // tinted: what is loaded or saved
  figure,  // of the table above the columns
  span,    // what a figure measures
  // Of charts:
  axis,
  grid,
  tick,   // words at a place of an axis
  label,  // words beside what they name
  limit,  // what cannot be passed: a capacity, a roof
  bar,    // an amount
  cell,   // of a map; its series is its shade
  again,  // a part of one that is there more than once
  curve,
  point,
  hatch,    // of time in which nothing happens
  barrier,  // one waits for another
  frame,    // around the columns of a loop
};
std::string_view name(MarkKind);

struct Mark {
  MarkKind kind = MarkKind::wire;
  std::variant<Line, Area, Words> shape;
  std::string id{};                     // unique in the scene, or empty
  std::optional<std::size_t> level{};   // of memory, into Scene::levels; none: not asked
  std::optional<std::size_t> series{};  // in a chart: marks of one series look alike
  std::string about{};                  // at length, where the mark has no room for it
  std::string array{}, axis{};          // what it belongs to, as the file names it
};

// How a level's wires look, from what it is on the machine.
enum class Ink : std::uint8_t { outermost, between, innermost_shared, registers, fragments };
struct InkedLevel {
  std::string name;
  Ink ink = Ink::outermost;
};

struct Scene {
  double width = 0, height = 0;
  std::string title, description;
  std::vector<InkedLevel> levels;  // of memory, outermost first; empty without a machine
  std::vector<Mark> marks;         // drawn in this order
};

// Rows of the drawing are broken at `width`.
Scene lay_out(const Diagram&, double width = 1200);
// Kernel by kernel: arrays at their levels, what is loaded and saved, pieces on the wires, and above the columns what
// is moved (H) and held (M) at each level, as the cost says. Pieces of kernels that are configured have their divisors.
using Configurations = std::span<const std::optional<Configuration>>;  // by kernel
// `names`: of the kernels, instead of their statements.
Scene lay_out(const Diagram&, const Plan&, const Cost&, const Hardware&, Model, double width = 1200,
              Configurations = {}, std::span<const std::string> names = {});

// What stands in which memory, before there are pieces and numbers.
Scene lay_out_memories(const Diagram&, const Plan&, const Hardware&, double width = 1200);

// The derivation step by step, one scene each: the diagram, its statements fused, what every rule made of an array, and
// one step of the stream along the wire, if there is one, with what it carries.
std::vector<Scene> lay_out_derivation(const Diagram&, const Derivation&, std::optional<WireId> stream,
                                      double width = 1200);
// What a plan is of where that is not what was written: parts of an axis side by side, or sweeps apart.
struct Written {
  const Diagram* diagram = nullptr;  // none: the plan's
  std::vector<std::string> changes;  // in words
};
// The same for every kernel of a plan, each with its first stream; then the plan, in its memories and as it runs.
std::vector<Scene> lay_out_derivation(const Diagram&, const Plan&, const Cost&, const Hardware&, Model,
                                      double width = 1200, Configurations = {}, const Written& = {});

// One line per mark: for goldens.
std::string to_text(const Scene&);

// The space that words take in the fonts that pictures are printed with; never less than they take.
double text_width(std::string_view text);
// The words, or their beginning and `…`, so that they take no more than `width`.
std::string elided(std::string_view text, double width);

}  // namespace napkin
