// Expressions: tokens to ast::Expr. Depth is bounded twice: of the recursion here, and of the tree that comes out
// (a chain `a + a + ...` is a deep tree), so that later walks may recurse.
#include "syntax/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "syntax/operators.hpp"
#include "syntax/words.hpp"
#include "text/limits.hpp"

namespace napkin {

using ast::ExprKind;

namespace {

ast::Expr make(ExprKind kind, Span span) {
  ast::Expr expr;
  expr.kind = kind;
  expr.span = span;
  return expr;
}

Diagnostic too_deep(Span span) {
  return {.code = "E0604",
          .message = fmt::format("expression nested deeper than {} levels", limits::nesting),
          .span = span,
          .help = "give a part of it a statement of its own"};
}

Diagnostic chained(const Token& sign) {
  return {.code = "E0108",
          .message = fmt::format("comparisons do not chain: a second `{}`", sign.text),
          .span = sign.span,
          .help = "write `a < b and b < c`"};
}

// Signs of other languages that are two of this one's.
Diagnostic doubled(const Token& first, const Token& second) {
  Span both = first.span;
  both.end = second.span.end;
  const bool power = first.text == "*";
  return {.code = "E0105",
          .message = fmt::format("`{0}{0}` is no sign of this language", first.text),
          .span = both,
          .help = power ? "a power is `a ^ b`, with a constant exponent"
                        : "a quotient is `a / b`; of positions in an index it rounds down",
          .fixes = {write_instead(both, power ? "^" : "/")}};
}

bool is_doubled(const Token& first, const Token& second) {
  return (first.text == "*" || first.text == "/") && second.text == first.text && second.span.begin == first.span.end;
}

struct Depth {
  explicit Depth(int& counter) : value(counter) { ++value; }
  ~Depth() { --value; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  int& value;
};

}  // namespace

ast::Expr ExpressionParser::finish(ast::Expr expr, Span begin) {
  expr.span = cursor_.from(begin);
  for (const auto& argument : expr.arguments) expr.height = std::max(expr.height, argument.height + 1);
  if (expr.height > limits::nesting) cursor_.fail(too_deep(expr.span));
  return expr;
}

ast::Expr ExpressionParser::binary(int least) {
  const Depth depth(depth_);
  if (depth_ > limits::nesting) cursor_.fail(too_deep(cursor_.peek().span));
  const Span begin = cursor_.peek().span;
  auto left = prefix();
  bool compared = false;
  while (true) {
    const Token sign = cursor_.peek();
    const int strength =
        sign.kind == TokenKind::sign || sign.kind == TokenKind::name ? precedence(binary_operators, sign.text) : 0;
    if (strength == 0 || strength < least) return left;
    if (compared && strength == comparison_precedence) cursor_.fail(chained(sign));
    compared = strength == comparison_precedence;
    cursor_.next();
    if (is_doubled(sign, cursor_.peek())) cursor_.fail(doubled(sign, cursor_.peek()));
    auto whole = make(ExprKind::binary, begin);
    whole.name = {std::string(sign.text), sign.span};
    whole.arguments.push_back(std::move(left));
    whole.arguments.push_back(binary(strength == power_precedence ? strength : strength + 1));
    left = finish(std::move(whole), begin);
  }
}

ast::Expr ExpressionParser::prefix() {
  const Token sign = cursor_.peek();
  const bool word = sign.kind == TokenKind::sign || sign.kind == TokenKind::name;
  const int strength = word ? precedence(prefix_operators, sign.text) : 0;
  if (strength == 0) return primary();
  cursor_.next();
  auto whole = make(ExprKind::unary, sign.span);
  whole.name = {std::string(sign.text), sign.span};
  whole.arguments.push_back(binary(strength));
  return finish(std::move(whole), sign.span);
}

ast::Expr ExpressionParser::primary() {
  const Token token = cursor_.peek();
  if (token.kind == TokenKind::number) return number();
  if (token.kind == TokenKind::name && token.text == "inf") {
    cursor_.next();
    return make(ExprKind::infinity, token.span);
  }
  if (token.kind == TokenKind::name) return named();
  if (cursor_.at("(")) return bracketed();
  cursor_.fail_expected("an expression");
  return make(ExprKind::number, token.span);
}

ast::Expr ExpressionParser::number() {
  const Token token = cursor_.next();
  auto expr = make(ExprKind::number, token.span);
  expr.number_text = token.text;
  const auto read = std::from_chars(token.text.data(), token.text.data() + token.text.size(), expr.number);
  if (read.ec != std::errc())
    cursor_.fail(
        {.code = "E0104",
         .message = fmt::format("`{}` does not fit in a 64-bit float", token.text.substr(0, limits::name_bytes)),
         .span = token.span});
  return expr;
}

ast::Expr ExpressionParser::bracketed() {
  const Span begin = cursor_.peek().span;
  cursor_.open("(");
  auto expr = parse();
  cursor_.close();
  expr.span = cursor_.from(begin);
  return expr;
}

// NAME, NAME[indices], NAME(arguments) or NAME[axes](arguments).
ast::Expr ExpressionParser::named() {
  auto name = cursor_.expect_name("an expression");
  const Span begin = name.span;
  if (cursor_.at("(")) return call(std::move(name), {});
  auto expr = make(ExprKind::name, begin);
  if (cursor_.at("[")) {
    expr.kind = ExprKind::access;
    expr.arguments = list("[");
    if (cursor_.at("(")) return call(std::move(name), as_axes(expr.arguments));
  }
  expr.name = std::move(name);
  return finish(std::move(expr), begin);
}

ast::Expr ExpressionParser::call(ast::Name callee, std::vector<ast::Name> axes) {
  const Span begin = callee.span;
  auto expr = make(ExprKind::call, begin);
  expr.name = std::move(callee);
  expr.axes = std::move(axes);
  expr.arguments = list("(");
  return finish(std::move(expr), begin);
}

std::vector<ast::Expr> ExpressionParser::list(std::string_view bracket) {
  std::vector<ast::Expr> items;
  const Span begin = cursor_.peek().span;
  cursor_.open(bracket);
  if (!cursor_.at(bracket == "(" ? ")" : "]")) {
    do {
      if (items.size() == limits::list_items)
        cursor_.fail({.code = "E0605",
                      .message = fmt::format("a list of more than {} items", limits::list_items),
                      .span = begin});
      items.push_back(parse());
    } while (cursor_.accept(","));
  }
  cursor_.close();
  return items;
}

std::vector<ast::Name> ExpressionParser::as_axes(const std::vector<ast::Expr>& items) {
  std::vector<ast::Name> axes;
  for (const auto& item : items) {
    if (item.kind != ExprKind::name)
      cursor_.fail({.code = "E0105",
                    .message = "expected the name of an axis, found an expression",
                    .span = item.span,
                    .notes = {"`NAME[axes](..)` is a reduction or a call over axes; `NAME[indices]` reads an array"}});
    axes.push_back(item.name);
  }
  return axes;
}

std::vector<ast::Name> ExpressionParser::names(std::string_view bracket, std::string_view what) {
  std::vector<ast::Name> names;
  const Span begin = cursor_.peek().span;
  cursor_.open(bracket, bracket == "(" ? "and parameters, as in `(s)`" : "and axes, as in `[q, x]`");
  if (!cursor_.at(bracket == "(" ? ")" : "]")) {
    do {
      if (names.size() == limits::list_items)
        cursor_.fail({.code = "E0605",
                      .message = fmt::format("a list of more than {} items", limits::list_items),
                      .span = begin});
      names.push_back(cursor_.expect_name(what));
    } while (cursor_.accept(","));
  }
  cursor_.close();
  return names;
}

}  // namespace napkin
