// Each character by itself. Those that would turn around the direction of what follows are left out, and so are
// control characters, which XML may not hold at all.
#include "emit/picture_escape.hpp"

#include <utility>

#include "text/utf8.hpp"

namespace napkin {
namespace {

bool unprintable(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff;
  const bool turns = (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return control || turns;
}

template <class Escape>
std::string each(std::string_view text, Escape escape) {
  std::string all;
  while (!text.empty()) {
    const auto point = decode_utf8(text);
    const auto letter = text.substr(0, point ? point->bytes : 1);
    text.remove_prefix(letter.size());
    if (!point)
      all += "\uFFFD";
    else if (!unprintable(point->value))
      all += escape(letter);
  }
  return all;
}

}  // namespace

std::string xml(std::string_view text) {
  return each(text, [](std::string_view c) -> std::string {
    if (c == "&") return "&amp;";
    if (c == "<") return "&lt;";
    if (c == ">") return "&gt;";
    if (c == "\"") return "&quot;";
    if (c == "'") return "&#39;";
    return std::string(c);
  });
}

std::string tex(std::string_view text) {
  return each(text, [](std::string_view c) -> std::string {
    if (c == "\\") return "\\textbackslash{}";
    if (c == "~") return "\\textasciitilde{}";
    if (c == "^") return "\\textasciicircum{}";
    if (c == "·") return "$\\cdot$";
    if (c == "÷") return "$\\div$";
    if (c == "…") return "\\dots{}";
    if (c == "<") return "\\textless{}";
    if (c == ">") return "\\textgreater{}";
    if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) return "\\" + std::string(c);
    return std::string(c);
  });
}

}  // namespace napkin
