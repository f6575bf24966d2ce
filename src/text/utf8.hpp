// UTF-8: code points of a text, one at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace napkin {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
};

// The code point that begins `text`, or nothing where no valid one does. `text` is not empty.
std::optional<CodePoint> decode_utf8(std::string_view text);

// The first byte that is not part of a code point, or is NUL: where a file stops being text.
std::optional<std::size_t> find_not_text(std::string_view text);

// Columns that a terminal gives to a code point.
int columns(char32_t code_point);

}  // namespace napkin
