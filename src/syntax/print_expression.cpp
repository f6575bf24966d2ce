// Trees of expressions back to text: an operand gets brackets only where reading it without them gives another tree.
#include "syntax/print_expression.hpp"

#include <fmt/format.h>

#include "syntax/operators.hpp"

namespace napkin {

using ast::ExprKind;

namespace {

int strength(const ast::Expr& expr) {
  if (expr.kind == ExprKind::binary) return precedence(binary_operators, expr.name.text);
  if (expr.kind == ExprKind::unary) return precedence(prefix_operators, expr.name.text);
  return call_precedence;
}

std::string print(const ast::Expr& expr, bool index);

std::string operand(const ast::Expr& expr, int least, bool index) {
  auto text = print(expr, index);
  return strength(expr) < least ? "(" + text + ")" : text;
}

std::string list(const std::vector<ast::Expr>& items, char open, char close, bool index) {
  std::string text(1, open);
  for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ", ") + print(items[i], index);
  return text + close;
}

std::string binary(const ast::Expr& expr, bool index) {
  const auto& sign = expr.name.text;
  const int own = strength(expr);
  const bool to_right = own == power_precedence, chains = own != comparison_precedence;
  const auto left = operand(expr.arguments[0], to_right || !chains ? own + 1 : own, index);
  const auto right = operand(expr.arguments[1], to_right ? own : own + 1, index);
  const bool close = to_right || (index && sign == "*");
  return close ? left + sign + right : fmt::format("{} {} {}", left, sign, right);
}

std::string unary(const ast::Expr& expr, bool index) {
  const auto& sign = expr.name.text;
  return sign + (sign == "not" ? " " : "") + operand(expr.arguments[0], strength(expr), index);
}

std::string print(const ast::Expr& expr, bool index) {
  switch (expr.kind) {
    case ExprKind::number:
      return expr.number_text;
    case ExprKind::infinity:
      return "inf";
    case ExprKind::name:
      return expr.name.text;
    case ExprKind::access:
      return expr.name.text + list(expr.arguments, '[', ']', true);
    case ExprKind::call:
      return expr.name.text + (expr.axes.empty() ? "" : print_names(expr.axes, '[', ']')) +
             list(expr.arguments, '(', ')', false);
    case ExprKind::unary:
      return unary(expr, index);
    case ExprKind::binary:
      return binary(expr, index);
  }
  return "";
}

}  // namespace

std::string print_expression(const ast::Expr& expr) { return print(expr, false); }

std::string print_names(const std::vector<ast::Name>& names, char open, char close) {
  std::string text(1, open);
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i].text;
  return text + close;
}

}  // namespace napkin
