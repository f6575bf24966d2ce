// Querying and replacing the operands of an expression.
#pragma once

#include <algorithm>
#include <utility>
#include <variant>

#include "napkin/diagram.hpp"

namespace napkin {

// Calls `visit` with each operand: arguments, the operand of a cast, the body of a reduction.
template <class Visit>
void each_operand(const Diagram& diagram, ExprId id, const Visit& visit) {
  const auto& node = diagram.at(id).node;
  if (const auto* apply = std::get_if<Apply>(&node))
    for (const auto argument : apply->arguments) visit(argument);
  if (const auto* cast = std::get_if<Cast>(&node)) visit(cast->value);
  if (const auto* reduce = std::get_if<Reduce>(&node)) visit(reduce->body);
}

// Whether `is` is true for the expression, or for any expression inside it.
template <class Is>
bool any_part(const Diagram& diagram, ExprId id, const Is& is) {
  if (is(id)) return true;
  bool any = false;
  each_operand(diagram, id, [&](ExprId operand) { any = any || any_part(diagram, operand, is); });
  return any;
}

// The exponent of a power, 2 to 4, that is computed faster by multiplications; else 0.
inline int small_power(const Diagram& diagram, const Apply& apply) {
  if (apply.function->role != Role::power) return 0;
  const auto* exponent = std::get_if<Constant>(&diagram.at(apply.arguments[1]).node);
  if (!exponent) return 0;
  for (const int whole : {2, 3, 4})
    if (exponent->value == whole) return whole;
  return 0;
}

// The expression with `of` applied to each of its operands: arguments, the operand of a cast, the body of a reduction.
// The same expression if it has none.
template <class Of>
ExprId with_operands(Diagram& diagram, ExprId id, const Of& of) {
  Expr made = diagram.at(id);
  if (auto* apply = std::get_if<Apply>(&made.node))
    for (auto& argument : apply->arguments) argument = of(argument);
  else if (auto* cast = std::get_if<Cast>(&made.node))
    cast->value = of(cast->value);
  else if (auto* reduce = std::get_if<Reduce>(&made.node))
    reduce->body = of(reduce->body);
  else
    return id;
  return diagram.intern(std::move(made.node), made.span);
}

}  // namespace napkin
