// Warnings about a diagram that was read without an error: what is never used, reductions that do nothing.
#include "diagram/warn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagram/names.hpp"

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
      diagnostics.add(
          {.code = "W0222",
           .message = fmt::format("`{}` over `{}` of what does not depend on it", reduce->reduction->name, axis),
           .span = expr.span,
           .help = "a count or a size is `size(axis)`"});
    }
  }
}

}  // namespace

void warn(const ast::File& file, const Diagram& diagram, Diagnostics& diagnostics) {
  unused_parameters(file, diagnostics);
  unused_arrays(diagram, diagnostics);
  unused_axes(file, diagram, diagnostics);
  idle_reductions(diagram, diagnostics);
}

}  // namespace napkin
