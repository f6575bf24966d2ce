// Each character by itself.
#include "text/escape.hpp"

#include <algorithm>
#include <utility>

#include "text/utf8.hpp"

namespace napkin {
namespace {

constexpr std::string_view replacement = "\uFFFD";
constexpr std::size_t longest_name = 64;

// `escape` gets the letters that are printable, `otherwise` those that are not.
template <class Escape, class Otherwise>
std::string each(std::string_view text, Escape escape, Otherwise otherwise) {
  std::string all;
  while (!text.empty()) {
    const auto point = decode_utf8(text);
    const auto letter = text.substr(0, point ? point->bytes : 1);
    text.remove_prefix(letter.size());
    if (!point)
      all += replacement;
    else
      all += is_printable(point->value) ? escape(letter) : otherwise(letter);
  }
  return all;
}

std::string same(std::string_view letter) { return std::string(letter); }
std::string nothing(std::string_view) { return {}; }
std::string replaced(std::string_view) { return std::string(replacement); }

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

bool is_printable(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff;
  const bool breaks = c == 0x2028 || c == 0x2029;
  const bool turns = (c >= 0x200e && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !control && !breaks && !turns;
}

std::string xml(std::string_view text) {
  const auto escape = [](std::string_view c) -> std::string {
    if (c == "&") return "&amp;";
    if (c == "<") return "&lt;";
    if (c == ">") return "&gt;";
    if (c == "\"") return "&quot;";
    if (c == "'") return "&#39;";
    return std::string(c);
  };
  return each(text, escape, nothing);
}

std::string tex(std::string_view text) {
  const auto escape = [](std::string_view c) -> std::string {
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
  };
  return each(text, escape, nothing);
}

std::string printable(std::string_view text) {
  return each(text, same, [](std::string_view c) { return c == "\n" ? same(c) : replaced(c); });
}

std::string on_one_line(std::string_view text) { return each(text, same, replaced); }

std::string in_comment(std::string_view text) {
  auto line = on_one_line(text);
  for (auto end = line.find("*/"); end != std::string::npos; end = line.find("*/", end)) line.insert(end + 1, " ");
  if (line.ends_with('\\')) line += ".";
  return line;
}

bool is_on_one_line(std::string_view text) { return on_one_line(text) == text; }

bool is_plain_name(std::string_view text) {
  const auto fine = [](char c) { return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-' || c == '+'; };
  return !text.empty() && text.size() <= longest_name && is_letter_or_digit(text[0]) && std::ranges::all_of(text, fine);
}

}  // namespace napkin
