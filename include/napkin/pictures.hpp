// Pictures: a scene as SVG, as TikZ for papers, and as plain text for the terminal. They print and place nothing.
#pragma once

#include <string>

#include "napkin/scene.hpp"

namespace napkin {

std::string emit_svg(const Scene&);
std::string emit_tikz(const Scene&);
std::string emit_text_drawing(const Scene&);

}  // namespace napkin
