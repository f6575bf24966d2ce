// A page of rows, one below another, with headings, figures and a legend.
#pragma once

#include <string>
#include <vector>

#include "scene/row_marks.hpp"

namespace napkin::scene {

class Page {
 public:
  Page(double width, std::string title, std::string description);
  // From here on, wires have levels.
  void set_levels(std::vector<InkedLevel> levels) { scene_.levels = std::move(levels); }

  void add_heading(const std::string& words);
  // Adds rows, broken between statements at the full width, with figures above them if there are any.
  void add(const Inks&, const std::vector<Figures>&);
  void add_legend();
  // Whether the label of a wire ends with these words.
  bool says(const std::string& words) const;
  Scene end();

 private:
  void write(MarkKind kind, double x, double y, const std::string& words, double size);
  std::vector<Row> broken(const Inks&, double first_work) const;
  bool is_used(std::size_t level) const;
  void add_figures(const DrawnRow&, const std::vector<Figures>&, bool first);
  void add_figure(double from, double to, double y, const std::string& words);

  double width_;
  Scene scene_;
  Said said_;
  double y_ = 0;
};

// Sentences that describe what the functions do.
std::string described(const Circuit&);
// How to read the drawing of a circuit, and the labels on the wires and above the columns of a plan: one line each.
std::vector<std::string> reading_help(const Circuit&);
std::vector<std::string> reading_help(const Diagram&, const Plan&, std::optional<std::int64_t> divisor);

}  // namespace napkin::scene
