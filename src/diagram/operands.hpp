// Querying and replacing the operands of an expression.
#pragma once

#include <algorithm>
#include <utility>
#include <variant>

#include "napkin/diagram.hpp"

namespace napkin {

// Whether `is` is true for the expression, or for any expression inside it.
template <class Is>
bool any_part(const Diagram& diagram, ExprId id, const Is& is) {
  if (is(id)) return true;
  const auto& node = diagram.at(id).node;
  const auto of = [&](ExprId operand) { return any_part(diagram, operand, is); };
  if (const auto* apply = std::get_if<Apply>(&node)) return std::ranges::any_of(apply->arguments, of);
  if (const auto* cast = std::get_if<Cast>(&node)) return of(cast->value);
  const auto* reduce = std::get_if<Reduce>(&node);
  return reduce && of(reduce->body);
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
