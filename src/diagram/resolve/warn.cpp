// Warnings about a diagram without errors: unused declarations, reductions without effect.
#include "diagram/resolve/warn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "diagram/affine.hpp"
#include "diagram/resolve/names.hpp"

namespace napkin {

namespace {

bool mentions(const ast::Expr& expr, const std::string& name) {
  const auto within = [&](const ast::Expr& part) { return mentions(part, name); };
  return expr.name.text == name || std::any_of(expr.arguments.begin(), expr.arguments.end(), within);
}

void unused(const std::string& name, Span span, std::string_view what, Diagnostics& diagnostics) {
  diagnostics.add(
      {.code = "W0221", .message = fmt::format("{} `{}` is declared and never used", what, name), .span = span});
}

void unused_parameters(const ast::File& file, Diagnostics& diagnostics) {
  for (const auto* def : all<ast::Def>(file))
    for (const auto& parameter : def->parameters)
      if (!mentions(def->value, parameter.text)) unused(parameter.text, parameter.span, "parameter", diagnostics);
}

void unused_arrays(const Diagram& diagram, Diagnostics& diagnostics) {
  std::set<ArrayId> used(diagram.outputs.begin(), diagram.outputs.end());
  for (const auto& expr : diagram.exprs)
    if (const auto* access = std::get_if<Access>(&expr.node)) used.insert(access->array);
  for (std::uint32_t i = 0; i < diagram.arrays.size(); ++i)
    if (!used.contains({i})) unused(diagram.arrays[i].name, diagram.arrays[i].span, "array", diagnostics);
}

// An axis is used by a wire, by `size(axis)`, or by the size of another axis.
void unused_axes(const ast::File& file, const Diagram& diagram, Diagnostics& diagnostics) {
  std::set<AxisId> used;
  for (const auto& wire : diagram.wires) used.insert(wire.axis);
  for (const auto& expr : diagram.exprs)
    if (const auto* size = std::get_if<Size>(&expr.node)) used.insert(size->axis);
  const auto sizes = all<ast::Axis>(file);
  for (std::uint32_t i = 0; i < diagram.axes.size(); ++i) {
    const auto& axis = diagram.axes[i];
    const auto names_it = [&](const ast::Axis* other) { return other->size && mentions(*other->size, axis.name); };
    if (!used.contains({i}) && std::none_of(sizes.begin(), sizes.end(), names_it))
      unused(axis.name, axis.span, "axis", diagnostics);
  }
}

void idle_reductions(const Diagram& diagram, Diagnostics& diagnostics) {
  for (const auto& expr : diagram.exprs) {
    const auto* reduce = std::get_if<Reduce>(&expr.node);
    if (reduce == nullptr) continue;
    const auto read = free_wires(diagram, reduce->body);
    for (const auto wire : reduce->over) {
      if (std::binary_search(read.begin(), read.end(), wire)) continue;
      const auto& axis = diagram.at(diagram.at(wire).axis).name;
      diagnostics.add({.code = "W0222",
                       .message = fmt::format("`{}` over `{}` of a value that does not depend on it",
                                              reduce->reduction->name, axis),
                       .span = expr.span,
                       .help = "a count or a size is `size(axis)`"});
    }
  }
}

const Expr* position_in(const Diagram& diagram, const Apply& apply, Role role, std::size_t argument) {
  if (apply.function->role != role) return nullptr;
  const auto& read = diagram.at(apply.arguments.at(argument));
  return std::holds_alternative<Position>(read.node) ? &read : nullptr;
}

// Equal expressions are shared and have the span of the first one, which may be in another place.
bool holds(Span outer, Span inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

// Finds a root of a position, or a quotient by a position, which probably should use the length of the axis.
const Expr* doubtful_position(const Diagram& diagram, const Apply& apply) {
  for (const auto role : {Role::root, Role::inverse_root})
    if (const auto* found = position_in(diagram, apply, role, 0)) return found;
  return position_in(diagram, apply, Role::divide, 1);
}

void positions_for_lengths(const Diagram& diagram, Diagnostics& diagnostics) {
  for (const auto& expr : diagram.exprs) {
    const auto* apply = std::get_if<Apply>(&expr.node);
    const auto* place = apply != nullptr ? doubtful_position(diagram, *apply) : nullptr;
    if (place == nullptr) continue;
    const auto& axis = diagram.at(diagram.at(std::get<Position>(place->node).wire).axis).name;
    const auto what = apply->function->role == Role::divide ? "a quotient by" : "a root of";
    Diagnostic diagnostic{.code = "W0223",
                          .message = fmt::format("{} the position along `{}`, which begins at 0", what, axis),
                          .span = expr.span,
                          .help = fmt::format("the length of the axis is `size({})`", axis)};
    if (holds(expr.span, place->span)) diagnostic.fixes = {write_instead(place->span, fmt::format("size({})", axis))};
    diagnostics.add(std::move(diagnostic));
  }
}

std::string access_text(const Diagram& diagram, const Access& access) {
  std::vector<std::string> axes;
  for (const auto& index : access.at) axes.push_back(diagram.at(diagram.at(*plain_wire(index)).axis).name);
  return fmt::format("{}[{}]", diagram.at(access.array).name, fmt::join(axes, ", "));
}

// A square array can be read with its axes exchanged by mistake. If it is read in both orders, that is intended.
void exchanged_axes(const Diagram& diagram, Diagnostics& diagnostics) {
  std::map<ArrayId, const Expr*> first;
  std::set<ArrayId> in_order;
  for (const auto& expr : diagram.exprs) {
    const auto* access = std::get_if<Access>(&expr.node);
    if (access == nullptr) continue;
    if (exchanged(diagram, diagram.at(access->array), access->at))
      first.emplace(access->array, &expr);
    else
      in_order.insert(access->array);
  }
  for (const auto& [id, expr] : first) {
    if (in_order.contains(id)) continue;
    const auto& array = diagram.at(id);
    diagnostics.add(
        {.code = "W0224",
         .message = fmt::format("`{}` reads array `{}` with its axes in another order",
                                access_text(diagram, std::get<Access>(expr->node)), array.name),
         .span = expr->span,
         .others = {{array.span, fmt::format("declared as `{}`", text_of(diagram, array))}},
         .help = fmt::format("write `{}`; where the transpose is meant, exchange the axes of the declaration",
                             text_of(diagram, array)),
         .fixes = {write_instead(expr->span, text_of(diagram, array))}});
  }
}

}  // namespace

void warn(const ast::File& file, const Diagram& diagram, Diagnostics& diagnostics) {
  unused_parameters(file, diagnostics);
  unused_arrays(diagram, diagnostics);
  unused_axes(file, diagram, diagnostics);
  idle_reductions(diagram, diagnostics);
  positions_for_lengths(diagram, diagnostics);
  exchanged_axes(diagram, diagnostics);
}

}  // namespace napkin
