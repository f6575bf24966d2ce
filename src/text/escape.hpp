// Text of a user as it may stand in what napkin writes: whatever it holds, it stays text there.
//
// Control characters, and those that turn the direction of what follows, never come through: in markup they are left
// out, everywhere else U+FFFD stands in their place.
#pragma once

#include <string>
#include <string_view>

namespace napkin {

std::string xml(std::string_view text);
std::string tex(std::string_view text);

// For a terminal or a page of plain text: `printable` keeps newlines, `on_one_line` does not.
std::string printable(std::string_view text);
std::string on_one_line(std::string_view text);
// Inside a comment of C++, CUDA, CMake or Python: on one line, and neither `*/` nor a last `\` ends or goes on with it.
std::string in_comment(std::string_view text);
bool is_printable(char32_t);
// Whether `on_one_line` changes nothing.
bool is_on_one_line(std::string_view text);

// A word that can stand anywhere as it is, in code, in a shell and in the name of a file: letters, digits, `.`, `_`,
// `-` and `+`, at most 64 of them, a letter or a digit first.
bool is_plain_name(std::string_view text);

}  // namespace napkin
