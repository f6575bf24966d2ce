// Places of a text: bytes here, lines and UTF-16 code units in the protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace napkin::lsp {

struct Position {
  std::uint32_t line = 0, character = 0;  // from zero; the character in UTF-16 code units
};

// Where the lines of one text stand. A line ends in `\n`, `\r\n` or `\r`, as the protocol counts them. Every function
// takes the text that it was made of.
class Lines {
 public:
  explicit Lines(std::string_view text);
  // A place beyond the end of its line or of the text is that end; inside a pair of surrogates, its beginning.
  std::size_t offset(std::string_view text, Position) const;
  Position position(std::string_view text, std::size_t offset) const;

 private:
  struct Line {
    std::size_t begin, end;  // without what ends it
  };
  std::vector<Line> lines_;
};

}  // namespace napkin::lsp
