// The width of words. Letters are as wide as in small DejaVu Sans, which is wider than the fonts that browsers use
// instead. A letter is never narrower than the raster of plain-text drawings.
#include <algorithm>
#include <array>
#include <vector>

#include "scene/circuit.hpp"
#include "text/utf8.hpp"

namespace napkin {
namespace {

constexpr double raster = 8, size = 12, most_name = 160;

// Hundredths of the font's size, from ` ` to `~`.
constexpr std::array<int, 95> widths = {32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,  32, 34, 64, 64, 64,
                                        64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
                                        58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,  61, 73, 68, 99, 69,
                                        61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,  63, 63, 28, 28, 58,
                                        28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,  52, 64, 34, 64, 84};

bool joins_the_last(char32_t c) { return (c >= 0x300 && c < 0x370) || (c >= 0x200b && c <= 0x200f); }

double width_of(char32_t c) {
  if (c >= ' ' && c <= '~') return std::max(raster, widths[c - ' '] * size / 100);
  return joins_the_last(c) ? 0 : columns(c) == 2 ? 2 * raster : 12;
}

struct Letter {
  std::size_t bytes;
  double width;
};
Letter first_letter(std::string_view text) {
  const auto point = decode_utf8(text);
  return point ? Letter{point->bytes, width_of(point->value)} : Letter{1, 12};
}

}  // namespace

double text_width(std::string_view text) {
  double width = 0;
  while (!text.empty()) {
    const auto letter = first_letter(text);
    width += letter.width;
    text.remove_prefix(letter.bytes);
  }
  return width;
}

std::string elided(std::string_view text, double width) {
  if (text_width(text) <= width) return std::string(text);
  std::size_t taken = 0;
  for (double used = 12; taken < text.size();) {
    const auto letter = first_letter(text.substr(taken));
    if (used + letter.width > width) break;
    used += letter.width;
    taken += letter.bytes;
  }
  return std::string(text.substr(0, taken)) + "…";
}

namespace scene {

std::string short_name(std::string_view name) {
  if (text_width(name) <= most_name) return std::string(name);
  std::vector<std::size_t> letters;
  for (std::size_t at = 0; at < name.size(); at += first_letter(name.substr(at)).bytes) letters.push_back(at);
  const auto tail = name.substr(letters[letters.size() - std::min<std::size_t>(4, letters.size())]);
  return elided(name, most_name - text_width(tail)) + std::string(tail);
}

}  // namespace scene
}  // namespace napkin
