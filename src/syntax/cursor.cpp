// The parser's place in the tokens: brackets, failures, and finding the next declaration after one.
#include "syntax/cursor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "syntax/words.hpp"

namespace napkin {

namespace {

std::string_view closing(std::string_view bracket) { return bracket == "(" ? ")" : bracket == "[" ? "]" : "}"; }
bool opens(std::string_view sign) { return sign == "(" || sign == "[" || sign == "{"; }
bool closes(std::string_view sign) { return sign == ")" || sign == "]" || sign == "}"; }

std::string quoted(const Token& token) {
  if (token.kind == TokenKind::newline) return "the end of the line";
  if (token.kind == TokenKind::end) return "the end of the file";
  return fmt::format("`{}`", token.text);
}

// A word that could stand in the middle of a declaration and was misspelt.
void suggest_word(Diagnostic& diagnostic, const Token& found) {
  if (found.kind == TokenKind::name) suggest(diagnostic, found.text, {"and", "or", "not", "density", "on", "at"});
}

}  // namespace

const Token& Cursor::token(std::size_t i) const { return tokens_.tokens[std::min(i, tokens_.tokens.size() - 1)]; }

// Inside brackets a line continues, unless it plainly is a new declaration: then the bracket was never closed.
void Cursor::skip_newlines() {
  if (brackets_.empty() || brackets_.back().sign == "{") return;
  auto next = at_;
  while (token(next).kind == TokenKind::newline) ++next;
  if (next == at_ || !begins_declaration(next)) at_ = next;
}

const Token& Cursor::peek() {
  if (failed_) return tokens_.tokens.back();
  skip_newlines();
  return token(at_);
}

Token Cursor::next() {
  const Token taken = peek();
  if (!failed_ && taken.kind != TokenKind::end) ++at_;
  return taken;
}

bool Cursor::at(std::string_view text) {
  const auto& token = peek();
  return (token.kind == TokenKind::sign || token.kind == TokenKind::name) && token.text == text;
}

bool Cursor::accept(std::string_view text) {
  if (!at(text)) return false;
  next();
  return true;
}

bool Cursor::ends_declaration() {
  const auto kind = peek().kind;
  return kind == TokenKind::newline || kind == TokenKind::end || at(";");
}

const Token& Cursor::after_next() {
  peek();
  return failed_ ? tokens_.tokens.back() : token(at_ + 1);
}

Span Cursor::from(Span begin) const {
  const auto last = at_ == 0 ? begin.end : token(at_ - 1).span.end;
  return {begin.file, begin.begin, std::max(last, begin.end)};
}

Token Cursor::expect(std::string_view text, std::string_view context) {
  if (!at(text)) fail_expected(fmt::format("`{}`{}{}", text, context.empty() ? "" : " ", context));
  return next();
}

ast::Name Cursor::expect_name(std::string_view what) {
  const Token token = peek();
  const std::string text(token.text);
  if (token.kind != TokenKind::name)
    fail_expected(what);
  else if (is_reserved(text))
    fail({.code = "E0110",
          .message = fmt::format("`{}` is a word of the language and cannot be a name", text),
          .span = token.span,
          .label = fmt::format("expected {}", what)});
  else if (text.back() == '\'')
    fail({.code = "E0111",
          .message = fmt::format("`{}` ends in a prime", text),
          .span = token.span,
          .notes = {"primes are napkin's own: `d'` is the second wire of axis `d`"},
          .help = "choose a name without a prime"});
  next();
  return {text, token.span};
}

void Cursor::open(std::string_view bracket, std::string_view context) {
  const auto token = expect(bracket, context);
  if (!failed_) brackets_.push_back({token.span, token.text});
}

void Cursor::close() {
  if (failed_) return;
  const auto sign = closing(brackets_.back().sign);
  if (!at(sign)) return fail_expected(fmt::format("`,` or `{}`", sign));
  next();
  brackets_.pop_back();
}

void Cursor::fail(Diagnostic diagnostic) {
  if (failed_) return;
  failed_ = true;
  diagnostics_.add(std::move(diagnostic));
}

void Cursor::fail_expected(std::string_view what) {
  const Token found = peek();
  if (failed_) return;
  if (found.kind == TokenKind::bad) {  // it has its message
    failed_ = true;
    return;
  }
  const bool bracket_sign = found.kind == TokenKind::sign && closes(found.text);
  const bool wrong_bracket = bracket_sign && !brackets_.empty() && found.text != closing(brackets_.back().sign);
  const bool past_end = !brackets_.empty() && brackets_.back().sign != "{" && ends_declaration();
  if (wrong_bracket || past_end || (!brackets_.empty() && found.kind == TokenKind::end)) return fail_bracket();
  Diagnostic diagnostic{
      .code = "E0105", .message = fmt::format("expected {}, found {}", what, quoted(found)), .span = found.span};
  if (!brackets_.empty() && at("="))
    diagnostic.help = "equality is `==`", diagnostic.fixes = {write_instead(found.span, "==")};
  else
    suggest_word(diagnostic, found);
  fail(std::move(diagnostic));
}

void Cursor::fail_bracket() {
  const Token found = peek();
  const auto bracket = brackets_.back();
  const bool mismatch = found.kind == TokenKind::sign && closes(found.text);
  auto message = mismatch ? fmt::format("`{}` is closed by `{}`", bracket.sign, found.text)
                          : fmt::format("`{}` is never closed", bracket.sign);
  std::vector<Label> others;
  if (found.kind != TokenKind::end)
    others.push_back({found.span, fmt::format("expected `{}` before this", closing(bracket.sign))});
  fail({.code = "E0106",
        .message = std::move(message),
        .span = bracket.span,
        .label = "opened here",
        .others = std::move(others)});
}

void Cursor::begin_declaration() {
  brackets_.clear();
  declaration_ = at_;
}

// A keyword and a name, `NAME :`, or `NAME [..] =`.
bool Cursor::begins_declaration(std::size_t i) const {
  if (token(i).kind != TokenKind::name) return false;
  if (is_keyword(token(i).text)) return token(i + 1).kind == TokenKind::name;
  if (token(i + 1).text == ":") return true;
  if (token(i + 1).text != "[") return false;
  auto end = i + 2;
  while (token(end).kind != TokenKind::newline && token(end).kind != TokenKind::end && token(end).text != "]") ++end;
  return token(end).text == "]" && token(end + 1).text == "=";
}

void Cursor::recover() {
  failed_ = false;
  brackets_.clear();
  int depth = 0;
  for (at_ = declaration_; token(at_).kind != TokenKind::end; ++at_) {
    const bool newline = token(at_).kind == TokenKind::newline;
    const bool sign = token(at_).kind == TokenKind::sign;
    if (depth == 0 && (newline || (sign && token(at_).text == ";"))) return;
    if (newline && begins_declaration(at_ + 1)) return;
    if (sign && opens(token(at_).text)) ++depth;
    if (sign && closes(token(at_).text)) depth = std::max(0, depth - 1);
  }
}

void Cursor::recover_line() {
  failed_ = false;
  brackets_.resize(std::min<std::size_t>(brackets_.size(), 1));
  const bool braced = !brackets_.empty();
  const auto ends = [=](const Token& t) {
    if (t.kind == TokenKind::newline || t.kind == TokenKind::end) return true;
    return t.kind == TokenKind::sign && (t.text == ";" || (braced && t.text == "}"));
  };
  while (!ends(token(at_))) ++at_;
}

}  // namespace napkin
