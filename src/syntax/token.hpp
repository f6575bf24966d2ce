// Text to tokens. Newlines are tokens; whether one ends a declaration is for the parser to say.
#pragma once

#include <string_view>
#include <vector>

#include "napkin/syntax.hpp"

namespace napkin {

// `bad` stands for what could not be read and has its diagnostic already.
enum class TokenKind : std::uint8_t { name, number, sign, newline, bad, end };

struct Token {
  TokenKind kind;
  Span span;
  std::string_view text;  // as in the source, or as it was meant
};

struct Tokens {
  std::vector<Token> tokens;  // ends with one of kind `end`
  std::vector<ast::Comment> comments;
};

// Of a file, or of a part of one. What cannot be read is a diagnostic. A file that is not text at all gives no tokens.
Tokens tokenize(const Sources&, std::uint32_t file, Diagnostics&, std::size_t begin = 0,
                std::size_t end = std::string_view::npos);

}  // namespace napkin
