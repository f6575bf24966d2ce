// An expression with what it is made of replaced.
#pragma once

#include <utility>
#include <variant>

#include "napkin/diagram.hpp"

namespace napkin {

// The expression with `of` applied to each of its operands: arguments, what is cast, what is reduced. The same
// expression where it has none.
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
