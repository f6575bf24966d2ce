// The words of the language: those that begin a declaration, and those that cannot be names.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace napkin {

inline constexpr std::array<std::string_view, 6> keywords = {"diagram", "axis", "input", "output", "def", "partition"};
inline constexpr std::array<std::string_view, 4> operator_words = {"and", "or", "not", "inf"};

inline bool is_keyword(std::string_view word) {
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}
inline bool is_reserved(std::string_view word) {
  return is_keyword(word) || std::find(operator_words.begin(), operator_words.end(), word) != operator_words.end();
}

}  // namespace napkin
