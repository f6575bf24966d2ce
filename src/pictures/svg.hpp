// The SVG element of a scene, for a file of its own or inside a page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "napkin/scene.hpp"

namespace napkin {

// How marks look, on white paper.
std::string svg_style();
// Colours of series on dark paper, as rules of a style sheet.
std::string svg_dark_series();

// How much marks say: all, in a file of its own; in a page without ids, but of names of arrays, and axes, in groups
// that say once what marks that follow each other have in common; or without what is said at length and any id, too.
enum class SvgDetail : std::uint8_t { whole, grouped, brief };

struct SvgUse {
  std::string id;          // begins all ids
  std::string_view style;  // none where the page has it already
  SvgDetail detail = SvgDetail::whole;
};
std::string svg_element(const Scene&, const SvgUse&);

}  // namespace napkin
