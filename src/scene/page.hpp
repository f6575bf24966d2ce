// A page on which rows are put one below another, with headings, figures and a legend.
#pragma once

#include <string>
#include <vector>

#include "scene/row_marks.hpp"

namespace napkin::scene {

class Page {
 public:
  Page(double width, std::string title, std::string description);
  // From here on wires have levels.
  void set_levels(std::vector<InkedLevel> levels) { scene_.levels = std::move(levels); }

  void add_heading(const std::string& words);
  // Rows broken between statements where the width is full, with figures above them if there are any.
  void add(const Inks&, const std::vector<Figures>&);
  void add_legend();
  // Whether such words end the label of a wire.
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

// What the functions do, in sentences.
std::string described(const Circuit&);
// How to read what is drawn of a circuit, and what stands on the wires and above the columns of a plan: a line each.
std::vector<std::string> reading_help(const Circuit&);
std::vector<std::string> reading_help(const Diagram&, const Plan&, std::optional<std::int64_t> divisor);

}  // namespace napkin::scene
