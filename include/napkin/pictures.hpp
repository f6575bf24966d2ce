// Prints scenes, and the numbers behind charts, as pictures, text, tables and pages. Every mark already has its place.
#pragma once

#include <string>
#include <vector>

#include "napkin/chart.hpp"

namespace napkin {

// A scene as SVG, as TikZ for papers, and as plain text for the terminal.
std::string emit_svg(const Scene&);
std::string emit_tikz(const Scene&);
std::string emit_text_drawing(const Scene&);
// The numbers behind a chart as CSV (RFC 4180): a line of names, then a line for each row.
std::string emit_csv(const Data&);
// Scenes one after another in one HTML page, with a slider.
std::string emit_page(const std::vector<Scene>&, const std::string& title);

}  // namespace napkin
