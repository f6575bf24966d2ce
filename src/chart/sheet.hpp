// A sheet on which a chart is drawn: marks, scales and axes, and words that keep clear of each other.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "napkin/chart.hpp"

namespace napkin::chart {

// Numbers to places.
struct Scale {
  double low = 0, high = 1;   // numbers
  double begin = 0, end = 1;  // places
  bool logarithmic = false;
  double base = 10;  // of round numbers: 10, or 2 for bytes of memory

  double at(double number) const;
  std::vector<double> ticks() const;  // round numbers from low to high
};
// From nothing to a round number that is not less than `high`.
Scale from_zero(double high, double begin, double end, double base = 10);
// Whole decades around the numbers.
Scale decades(double low, double high, double begin, double end);
// Powers of two around the numbers.
Scale doublings(double low, double high, double begin, double end);

// What a mark belongs to.
struct Of {
  std::optional<std::size_t> series{};
  std::string array{}, about{};
};

constexpr double margin = 24, line_height = 18;

class Sheet {
 public:
  // Titles, heads and notes are broken at `room`.
  explicit Sheet(const std::string& title, double room = 640);

  double y = 0;  // below what was drawn

  // A heading of its own line, and a line of small print.
  void head(const std::string& words);
  void note(const std::string& words);

  // Words, elided to `room`.
  void write(MarkKind, Point, Anchor, const std::string&, double room = std::numeric_limits<double>::infinity(),
             const Of& = {});
  // Words from a place on, in lines no longer than `room`; how many.
  std::size_t write_lines(MarkKind, Point, const std::string&, double room, const Of& = {});
  // The place, or where other words stand there, the first free one as many steps further as it takes.
  Point free_place(Point, Anchor, const std::string&, Point step) const;
  // At the place, or where that is taken, as far above it or below as it must be.
  void write_near(MarkKind, Point, Anchor, const std::string&, double down, const Of& = {});
  void add(MarkKind, Line, const Of& = {});
  void add(MarkKind, Area, const Of& = {});
  // Slanted lines across an area.
  void hatch(const Area&);

  // Numbers below, lines of the grid above them.
  void axis_below(const Scale&, double top, double bottom, const std::function<std::string(double)>& words,
                  const std::string& title);
  void axis_beside(const Scale&, double left, double right, const std::function<std::string(double)>& words,
                   const std::string& title);

  // The picture, with the numbers in its description.
  Chart end(std::string name, Data data);

 private:
  Scene scene_;
  double room_;
};

}  // namespace napkin::chart
