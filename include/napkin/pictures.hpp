// Scenes and the numbers behind charts as files: pictures, text, tables and pages. Everything has its place already.
#pragma once

#include <string>
#include <vector>

#include "napkin/chart.hpp"

namespace napkin {

// A scene as SVG, as TikZ for papers, and as plain text for the terminal.
std::string emit_svg(const Scene&);
std::string emit_tikz(const Scene&);
std::string emit_text_drawing(const Scene&);
// The numbers behind a chart: a line of names and a line for each row, as RFC 4180 has it.
std::string emit_csv(const Data&);
// Scenes one after another in one HTML page, with a slider.
std::string emit_page(const std::vector<Scene>&, const std::string& title);

}  // namespace napkin
