// Expands reads of arrays; see access.hpp.
#include "diagram/resolve/access.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/affine.hpp"
#include "diagram/resolve/lookup.hpp"

namespace napkin {
namespace {

// Checks that every index stays in bounds. If the axes are only in another order, that is reported as the one error.
void check_indices(Expansion& expansion, const ast::Expr& expr, const Array& array,
                   const std::vector<std::optional<Index>>& indices) {
  Diagnostics found;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i]) check_bounds(expansion.draft.diagram, array, i, *indices[i], expr.arguments[i], found);
  std::vector<Index> all;
  for (const auto& index : indices)
    if (index) all.push_back(*index);
  if (found.size() > 0 && all.size() == indices.size() && exchanged(expansion.draft.diagram, array, all)) {
    expansion.diagnostics.add(
        {.code = "E0212",
         .message = fmt::format("array `{}` is read with its axes in another order", array.name),
         .span = expr.span,
         .others = {{array.span, fmt::format("declared as `{}`", text_of(expansion.draft.diagram, array))}},
         .fixes = {write_instead(expr.span, text_of(expansion.draft.diagram, array))}});
    return;
  }
  for (auto& problem : found.sorted()) expansion.diagnostics.add(std::move(problem));
}

std::optional<Expanded> read(Expansion& expansion, const ast::Expr& expr, const Scope& scope, const ArrayEntry& entry) {
  const auto& array = expansion.draft.diagram.at(entry.id);
  if (!entry.ready) {
    const bool itself = array.name == expansion.statement->name.text;
    std::vector<std::string> notes;
    if (itself)
      notes.emplace_back("a value computed from its own earlier values is a recurrence, and no statement is one");
    expansion.diagnostics.add(
        {.code = "E0213",
         .message = fmt::format("array `{}` is read {}", array.name,
                                itself ? "by the statement that produces it" : "before it is produced"),
         .span = expr.name.span,
         .others = {{array.span, "produced here"}},
         .notes = std::move(notes),
         .help = itself ? "give the result a name of its own" : "move its statement up"});
  }
  if (entry.bad) return std::nullopt;
  if (expr.arguments.size() != array.wires.size()) {
    expansion.diagnostics.add(
        {.code = "E0207",
         .message = fmt::format("array `{}` has {} ax{}s, found {}", array.name, array.wires.size(),
                                array.wires.size() == 1 ? "i" : "e", expr.arguments.size()),
         .span = expr.span,
         .others = {{array.span, fmt::format("declared as `{}`", text_of(expansion.draft.diagram, array))}}});
    return std::nullopt;
  }
  AffineReader reader(
      expansion.draft.diagram, expansion.names,
      [&](const ast::Expr& name) { return find_bound(expansion, name, scope, ReadAs::index); }, expansion.diagnostics);
  Access access{entry.id, {}};
  std::vector<std::optional<Index>> indices;
  for (const auto& argument : expr.arguments) indices.push_back(reader.read(argument));
  check_indices(expansion, expr, array, indices);
  for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
    auto& index = indices[i];
    if (!index) continue;
    if (const auto use = plain_wire(*index);
        use && expansion.draft.diagram.at(*use).axis == expansion.draft.diagram.at(array.wires[i]).axis)
      expansion.draft.meetings.emplace_back(*use, array.wires[i]);
    access.at.push_back(std::move(*index));
  }
  if (access.at.size() != expr.arguments.size() || !entry.ready) return std::nullopt;
  expansion.draft.assumed.insert(reader.sizes().begin(), reader.sizes().end());
  return add(expansion, std::move(access), kind_of(array.type), expr, scope);
}

}  // namespace

std::optional<Expanded> expand_access(Expansion& expansion, const ast::Expr& expr, const Scope& scope) {
  const auto& name = expr.name.text;
  if (scope.frame != nullptr) {
    const auto& parameters = scope.frame->entry->def->parameters;
    const bool parameter =
        std::any_of(parameters.begin(), parameters.end(), [&](const auto& p) { return p.text == name; });
    if (parameter)
      fail(expansion,
           {.code = "E0207",
            .message = fmt::format("parameter `{}` takes no indices", name),
            .notes = {"a parameter stands for a whole expression, its axes and all"},
            .fixes = {write_instead(expr.span, name)}},
           expr, scope);
    else
      fail_not_given(expansion, expr.name, scope, "name");
    return std::nullopt;
  }
  if (expansion.names.broken.contains(name)) return std::nullopt;
  if (const auto array = expansion.names.arrays.find(name); array != expansion.names.arrays.end())
    return read(expansion, expr, scope, array->second);
  if (is_built_in(name) || expansion.names.find_def(name, false) != nullptr)
    fail(expansion,
         {.code = "E0208",
          .message = fmt::format("`{}` is a function and lacks its arguments", name),
          .help = fmt::format("write `{}[..](..)`", name)},
         expr, scope);
  else if (expansion.names.axes.contains(name))
    fail(expansion,
         {.code = "E0203",
          .message = fmt::format("`{}` is an axis and takes no indices", name),
          .help = fmt::format("the position along it is `{}`", name),
          .fixes = {write_instead(expr.span, name)}},
         expr, scope);
  else
    expansion.diagnostics.add(
        with_suggestion({.code = "E0203", .message = fmt::format("unknown array `{}`", name), .span = expr.name.span},
                        name, expansion.names.array_names(), "arrays"));
  return std::nullopt;
}

}  // namespace napkin
