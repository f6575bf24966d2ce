// Scene: a diagram as a picture. Every mark has its place, its kind and its words; printers of scenes decide nothing.
//
// The unit of lengths makes a line of small print 12 high and a letter of fixed width 8 wide; y grows downwards.
// docs/drawing.md explains the notation.
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

// A sloping segment is drawn as a smooth bend that begins and ends horizontally.
struct Line {
  std::vector<Point> points;
  bool closed = false;  // an outline, filled
};
struct Area {
  double x = 0, y = 0, width = 0, height = 0;
};
enum class Anchor : std::uint8_t { start, middle, end };
struct Words {
  Point at;  // the anchor, at half the height of the words
  Anchor anchor = Anchor::start;
  std::string text;
  double width = 0;     // measured
  bool barred = false;  // a bar above: the next function is woven over this wire
};

// The meaning of a mark; the theme defines its look.
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
  reindexing,     // a slanted box: the wire is read at other positions
  function_name,
  array_name,
  wire_name,
  wire_size,
  onward,  // the row is full: the wire goes on below
  region,  // tinted: arrays that are loaded or saved
  figure,  // a number of the table above the columns
  span,    // the extent that a figure measures
  // Of charts:
  axis,
  grid,
  tick,   // words at a position of an axis
  label,  // words next to the mark that they name
  limit,  // a bound: a capacity, a roof
  bar,    // an amount
  cell,   // of a map; its series sets its shade
  again,  // a pale area: bytes that are loaded again, the life of an array
  curve,
  point,
  hatch,    // over time in which nothing happens
  barrier,  // one waits for another; in a chart, the place of this machine
  frame,    // around the columns of a loop
};
std::string_view name(MarkKind);

struct Mark {
  MarkKind kind = MarkKind::wire;
  std::variant<Line, Area, Words> shape;
  std::string id{};                     // unique in the scene, or empty
  std::optional<std::size_t> level{};   // index into Scene::levels; none: the mark belongs to no memory
  std::optional<std::size_t> series{};  // in a chart: marks of one series look alike
  std::string about{};                  // a longer text, for which the mark has no room
  std::string array{}, axis{};          // that it belongs to, by their names in the file
};

// The look of a level's wires, by the kind of the level.
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

// Lays out a diagram; rows of the drawing are broken at `width`.
Scene lay_out(const Diagram&, double width = 1200);
// Lays out a plan kernel by kernel: arrays at their levels, loads and saves, pieces on the wires, and above the columns
// the bytes moved (H) and held (M) at each level, from the cost. Pieces of configured kernels show their divisors.
using Configurations = std::span<const std::optional<Configuration>>;  // by kernel
// `names` of the kernels replace the lists of their statements.
Scene lay_out(const Diagram&, const Plan&, const Cost&, const Hardware&, Model, double width = 1200,
              Configurations = {}, std::span<const std::string> names = {});

// The memory of every array, without pieces and numbers.
Scene lay_out_memories(const Diagram&, const Plan&, const Hardware&, double width = 1200);

// The derivation step by step, one scene each: the diagram, its statements fused, the result of every rule for an
// array, and one step of `stream`, if there is one, with the carried state.
std::vector<Scene> lay_out_derivation(const Diagram&, const Derivation&, std::optional<WireId> stream,
                                      double width = 1200);
// The diagram as written, if the plan is of another one: with parts of an axis side by side, or in several sweeps.
struct Written {
  const Diagram* diagram = nullptr;  // none: the plan is of this diagram
  std::vector<std::string> changes;  // from the written diagram to that of the plan, in words
};
// The same for every kernel of a plan, each with its first stream; then lay_out_memories and lay_out of the plan.
std::vector<Scene> lay_out_derivation(const Diagram&, const Plan&, const Cost&, const Hardware&, Model,
                                      double width = 1200, Configurations = {}, const Written& = {});

// One line per mark, for golden files of tests.
std::string to_text(const Scene&);

// The width of words in the fonts of pictures; never less than the printed width.
double text_width(std::string_view text);
// The words, or their beginning and `…`, so that they are no wider than `width`.
std::string elided(std::string_view text, double width);

}  // namespace napkin
