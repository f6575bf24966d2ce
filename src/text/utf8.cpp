// Decodes UTF-8 strictly: no overlong forms, no surrogates, nothing above U+10FFFF.
#include "text/utf8.hpp"

#include <algorithm>
#include <array>

namespace napkin {

namespace {

struct Form {
  unsigned char mask, lead;
  std::size_t bytes;
  char32_t least;
};
constexpr std::array forms = {Form{0x80, 0x00, 1, 0}, Form{0xE0, 0xC0, 2, 0x80}, Form{0xF0, 0xE0, 3, 0x800},
                              Form{0xF8, 0xF0, 4, 0x10000}};

bool allowed(char32_t value, const Form& form) {
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  return value >= form.least && value <= 0x10FFFF && !surrogate;
}

struct Wide {
  char32_t first, last;
};
constexpr std::array wide = {Wide{0x1100, 0x115F}, Wide{0x2E80, 0xA4CF}, Wide{0xAC00, 0xD7A3},  Wide{0xF900, 0xFAFF},
                             Wide{0xFE30, 0xFE6F}, Wide{0xFF00, 0xFF60}, Wide{0x1F300, 0x1FAFF}};

}  // namespace

std::optional<CodePoint> decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (const auto& form : forms) {
    if ((byte(0) & form.mask) != form.lead) continue;
    if (text.size() < form.bytes) return std::nullopt;
    char32_t value = byte(0) & static_cast<unsigned char>(~form.mask);
    for (std::size_t i = 1; i < form.bytes; ++i) {
      if ((byte(i) & 0xC0U) != 0x80U) return std::nullopt;
      value = value << 6U | (byte(i) & 0x3FU);
    }
    if (!allowed(value, form)) return std::nullopt;
    return CodePoint{value, form.bytes};
  }
  return std::nullopt;
}

std::optional<std::size_t> find_not_text(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto point = decode_utf8(text.substr(at));
    if (!point || point->value == 0) return at;
    at += point->bytes;
  }
  return std::nullopt;
}

int columns(char32_t code_point) {
  const auto holds = [=](const Wide& range) { return code_point >= range.first && code_point <= range.last; };
  return std::any_of(wide.begin(), wide.end(), holds) ? 2 : 1;
}

}  // namespace napkin
