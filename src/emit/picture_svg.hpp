// The SVG element of a scene, for a file of its own or inside a page.
#pragma once

#include <string>
#include <string_view>

#include "napkin/scene.hpp"

namespace napkin {

// How marks look, on white paper.
std::string_view svg_style();

struct SvgUse {
  std::string id;          // begins all ids
  std::string_view style;  // none where the page has it already
  bool brief = false;      // marks without ids, axes and what is said of them at length
};
std::string svg_element(const Scene&, const SvgUse&);

}  // namespace napkin
