// Spreads a def of one axis that is called over several axes: makes a copy of the def with one axis for each.
#include "diagram/resolve/spread.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace napkin {

namespace {

using ast::ExprKind;

// Axes that replace the single one. No text can contain their names, so they cannot clash with others.
std::vector<ast::Name> formals(const ast::Name& axis, std::size_t count) {
  std::vector<ast::Name> names(count, axis);
  for (std::size_t i = 1; i < count; ++i) names[i].text = fmt::format("{} {}", axis.text, i + 1);
  return names;
}

bool names(const ast::Expr& expr, const std::string& axis) {
  return expr.kind == ExprKind::name && expr.name.text == axis;
}

bool is_size(const ast::Expr& expr, const std::string& axis) {
  return expr.kind == ExprKind::call && expr.name.text == "size" && expr.arguments.size() == 1 &&
         names(expr.arguments[0], axis);
}

// size(a) * size(b) * ..
ast::Expr product_of_sizes(const ast::Expr& size, const std::vector<ast::Name>& axes) {
  ast::Expr product = size;
  for (std::size_t i = 1; i < axes.size(); ++i) {
    ast::Expr factor = size, times = size;
    factor.arguments[0].name = axes[i];
    times.kind = ExprKind::binary;
    times.name.text = "*";
    times.arguments = {std::move(product), std::move(factor)};
    times.height = times.arguments[0].height + 1;
    product = std::move(times);
  }
  return product;
}

// False if the def reads the position along the axis: several axes have no single position.
bool spread(ast::Expr& expr, const std::vector<ast::Name>& axes) {
  const auto& axis = axes[0].text;
  if (names(expr, axis)) return false;
  if (is_size(expr, axis)) return expr = product_of_sizes(expr, axes), true;
  const auto at = std::find_if(expr.axes.begin(), expr.axes.end(), [&](const auto& n) { return n.text == axis; });
  if (at != expr.axes.end()) expr.axes.insert(at + 1, axes.begin() + 1, axes.end());
  return std::all_of(expr.arguments.begin(), expr.arguments.end(), [&](ast::Expr& e) { return spread(e, axes); });
}

}  // namespace

std::optional<ast::Def> spread(const ast::Def& def, std::size_t count) {
  ast::Def over = def;
  over.axes = formals(def.axes[0], count);
  if (!spread(over.value, over.axes)) return std::nullopt;
  return over;
}

}  // namespace napkin
