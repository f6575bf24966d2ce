// Expressions: one function per grammar rule, precedence by climbing the table of operators.
#pragma once

#include <vector>

#include "syntax/cursor.hpp"

namespace napkin {

class ExpressionParser {
 public:
  explicit ExpressionParser(Cursor& cursor) : cursor_(cursor) {}
  ast::Expr parse() { return binary(1); }
  std::vector<ast::Name> names(std::string_view bracket, std::string_view what);  // `[q, x]`, `(s, t)`

 private:
  ast::Expr binary(int least);
  ast::Expr prefix();
  ast::Expr primary();
  ast::Expr number();
  ast::Expr bracketed();
  ast::Expr named();
  ast::Expr call(ast::Name callee, std::vector<ast::Name> axes);
  std::vector<ast::Expr> list(std::string_view bracket);
  std::vector<ast::Name> as_axes(const std::vector<ast::Expr>& items);
  ast::Expr finish(ast::Expr expr, Span begin);

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace napkin
