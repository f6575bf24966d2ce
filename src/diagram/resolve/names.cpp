// Maps declarations to names: duplicate names, suggestions, and the order of declaration.
#include "diagram/resolve/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diagram/resolve/arrays.hpp"
#include "diagram/resolve/sizes.hpp"

namespace napkin {

namespace {

template <class Map>
std::vector<std::string> keys(const Map& map) {
  std::vector<std::string> names;
  for (const auto& entry : map) names.push_back(entry.first);
  return names;
}

// The name that a declaration adds; all declarations of a file share one namespace.
const ast::Name* declared_name(const ast::DeclarationNode& node) {
  if (const auto* axis = std::get_if<ast::Axis>(&node)) return &axis->name;
  if (const auto* input = std::get_if<ast::Input>(&node)) return &input->name;
  if (const auto* statement = std::get_if<ast::Statement>(&node)) return &statement->name;
  if (const auto* def = std::get_if<ast::Def>(&node)) return &def->name;
  return nullptr;
}

void check_doubled(const ast::File& file, Names& names, Diagnostics& diagnostics) {
  std::map<std::string, Span, std::less<>> seen, partitions;
  for (const auto& declaration : file.declarations) {
    const auto* partition = std::get_if<ast::Partition>(&declaration.node);
    const auto* name = partition != nullptr ? &partition->name : declared_name(declaration.node);
    if (name == nullptr) continue;
    if (partition == nullptr && is_built_in(name->text)) {
      diagnostics.add({.code = "E0202",
                       .message = fmt::format("`{}` is built into the language", name->text),
                       .span = name->span,
                       .help = "choose another name"});
      continue;
    }
    const auto [first, fresh] = (partition != nullptr ? partitions : seen).emplace(name->text, name->span);
    if (fresh) continue;
    names.broken.insert(name->text);
    diagnostics.add({.code = "E0202",
                     .message = fmt::format("`{}` is declared twice", name->text),
                     .span = name->span,
                     .label = "declared again",
                     .others = {{first->second, "first declared here"}},
                     .help = "choose another name"});
  }
}

void declare_defs(const ast::File& file, bool prelude, Names& names) {
  auto& defs = prelude ? names.prelude : names.defs;
  for (const auto* def : all<ast::Def>(file)) defs.emplace(def->name.text, DefEntry{def, prelude});
}

}  // namespace

DefEntry* Names::find_def(std::string_view name, bool from_prelude) {
  if (const auto own = defs.find(name); !from_prelude && own != defs.end()) return &own->second;
  const auto found = prelude.find(name);
  return found == prelude.end() ? nullptr : &found->second;
}
std::vector<std::string> Names::axis_names() const { return keys(axes); }
std::vector<std::string> Names::array_names() const { return keys(arrays); }
std::vector<std::string> Names::function_names() const {
  auto names = keys(defs);
  for (auto& name : keys(prelude)) names.push_back(std::move(name));
  for (const auto& row : pointwise_functions())
    if (row.callable && row.precedence == 0) names.emplace_back(row.name);
  for (const auto& row : reductions()) names.emplace_back(row.name);
  for (const auto& row : datatypes()) names.emplace_back(row.name);
  names.emplace_back("size");
  return names;
}

bool is_built_in(std::string_view name) {
  const auto* function = find_pointwise(name);
  return (function != nullptr && function->callable && function->precedence == 0) || find_reduction(name) != nullptr ||
         find_datatype(name) != nullptr || name == "size";
}

Diagnostic with_suggestion(Diagnostic diagnostic, const std::string& name, const std::vector<std::string>& known,
                           std::string_view what) {
  constexpr std::size_t few = 8;
  if (!suggest(diagnostic, name, known) && !known.empty() && known.size() <= few)
    diagnostic.help = fmt::format("the {} are `{}`", what, fmt::join(known, "`, `"));
  return diagnostic;
}

Diagnostic unknown_axis(const ast::Name& name, const std::vector<std::string>& known) {
  return with_suggestion({.code = "E0201", .message = fmt::format("unknown axis `{}`", name.text), .span = name.span},
                         name.text, known, "axes");
}

std::string text_of(const Diagram& diagram, const Array& array) {
  std::vector<std::string> axes;
  for (const auto wire : array.wires) axes.push_back(diagram.at(diagram.at(wire).axis).name);
  return fmt::format("{}[{}]", array.name, fmt::join(axes, ", "));
}

void refuse_rounding(Datatype type, Span span, Diagnostics& diagnostics) {
  const auto& of = row(type);
  const auto instead = row(of.alone == type ? Datatype::bf16 : of.alone).name;  // a type that has all numbers of `type`
  diagnostics.add({.code = "E0221",
                   .message = fmt::format("nothing is rounded to `{}`, which only inputs have", of.name),
                   .span = span,
                   .help = fmt::format("write `{}`, which has all of its numbers", instead),
                   .fixes = {write_instead(span, std::string(instead))}});
}

void check_distinct(const std::vector<ast::Name>& axes, Diagnostics& diagnostics) {
  std::map<std::string_view, Span> seen;
  for (const auto& axis : axes) {
    const auto [first, fresh] = seen.emplace(axis.text, axis.span);
    if (!fresh)
      diagnostics.add({.code = "E0220",
                       .message = fmt::format("`{}` is named twice in one list", axis.text),
                       .span = axis.span,
                       .label = "again",
                       .others = {{first->second, "first here"}}});
  }
}

Names declare(const ast::File& file, const ast::File& prelude, const Overrides& overrides, Diagram& diagram,
              Diagnostics& diagnostics) {
  Names names;
  for (const auto* broken : all<ast::Broken>(file))
    if (broken->name) names.broken.insert(broken->name->text);
  check_doubled(file, names, diagnostics);
  declare_axes(file, overrides, diagram, names, diagnostics);
  declare_arrays(file, overrides, diagram, names, diagnostics);
  declare_defs(file, false, names);
  declare_defs(prelude, true, names);
  return names;
}

}  // namespace napkin
