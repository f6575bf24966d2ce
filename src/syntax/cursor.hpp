// The parser's place in the tokens. It guards two invariants: newlines inside brackets are not seen, and after an
// error nothing more is seen until `recover`, so that one mistake gives one message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "syntax/token.hpp"

namespace napkin {

class Cursor {
 public:
  Cursor(Tokens tokens, Diagnostics& diagnostics) : tokens_(std::move(tokens)), diagnostics_(diagnostics) {}

  const Token& peek();
  Token next();
  bool at(std::string_view text);      // the next token is this sign or word
  bool accept(std::string_view text);  // and if so takes it
  bool ends_declaration();             // a newline, `;` or the end of the file
  const Token& after_next();           // the token after the next one
  Span from(Span begin) const;         // from there to the last token taken

  Token expect(std::string_view text, std::string_view context);       // takes it, or fails
  ast::Name expect_name(std::string_view what);                        // neither reserved nor primed
  void open(std::string_view bracket, std::string_view context = "");  // expects a bracket, until the matching `close`
  void close();
  void fail(Diagnostic);
  void fail_expected(std::string_view what);
  bool failed() const { return failed_; }

  void begin_declaration();
  void recover();       // after a failure: to the end of the declaration
  void recover_line();  // after a failure inside braces: to the end of the line, or the closing brace
  std::vector<ast::Comment>& comments() { return tokens_.comments; }

 private:
  const Token& token(std::size_t i) const;
  bool begins_declaration(std::size_t i) const;
  void skip_newlines();
  void fail_bracket();

  struct Bracket {
    Span span;
    std::string_view sign;
  };
  Tokens tokens_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0, declaration_ = 0;
  bool failed_ = false;
  std::vector<Bracket> brackets_;
};

}  // namespace napkin
