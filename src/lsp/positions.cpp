// Converts bytes to lines and UTF-16 code units, and back.
#include "lsp/positions.hpp"

#include <algorithm>

#include "text/utf8.hpp"

namespace napkin::lsp {
namespace {

// The code point that begins at a byte; an invalid byte counts as a code point.
CodePoint code_point(std::string_view text) { return decode_utf8(text).value_or(CodePoint{0xFFFD, 1}); }

std::uint32_t code_units(const CodePoint& point) { return point.value >= 0x10000 ? 2 : 1; }

}  // namespace

Lines::Lines(std::string_view text) {
  std::size_t begin = 0;
  for (auto at = text.find_first_of("\r\n"); at != std::string_view::npos; at = text.find_first_of("\r\n", begin)) {
    lines_.push_back({begin, at});
    begin = at + (text.substr(at).starts_with("\r\n") ? 2 : 1);
  }
  lines_.push_back({begin, text.size()});
}

std::size_t Lines::offset(std::string_view text, Position position) const {
  if (position.line >= lines_.size()) return text.size();
  const auto& line = lines_[position.line];
  auto at = line.begin;
  for (std::uint32_t units = 0; at < line.end;) {
    const auto point = code_point(text.substr(at, line.end - at));
    units += code_units(point);
    if (units > position.character) break;
    at += point.bytes;
  }
  return at;
}

Position Lines::position(std::string_view text, std::size_t offset) const {
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), offset,
                                      [](std::size_t place, const Line& line) { return place < line.begin; });
  const auto line = after - 1;
  Position position{static_cast<std::uint32_t>(line - lines_.begin()), 0};
  const auto end = std::min(offset, line->end);
  for (auto at = line->begin; at < end;) {
    const auto point = code_point(text.substr(at, line->end - at));
    position.character += code_units(point);
    at += point.bytes;
  }
  return position;
}

}  // namespace napkin::lsp
