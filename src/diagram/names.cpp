// Declarations to names: doubled ones, types, shapes.
#include "diagram/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diagram/sizes.hpp"
#include "text/limits.hpp"

namespace napkin {

namespace {

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const auto& row : datatypes()) names.emplace_back(row.name);
  return names;
}

struct Foreign {
  std::string_view written, meant;
};
constexpr std::array foreign_types = {
    Foreign{"half", "f16"},    Foreign{"float16", "f16"}, Foreign{"float", "f32"},   Foreign{"float32", "f32"},
    Foreign{"single", "f32"},  Foreign{"double", "f64"},  Foreign{"float64", "f64"}, Foreign{"bfloat16", "bf16"},
    Foreign{"int8", "i8"},     Foreign{"int32", "i32"},   Foreign{"int", "i32"},     Foreign{"boolean", "bool"},
    Foreign{"e4m3", "f8e4m3"}, Foreign{"fp8", "f8e4m3"},  Foreign{"e5m2", "f8e5m2"}, Foreign{"mask", "bool"}};

std::string meant_type(std::string_view word) {
  for (const auto& [written, meant] : foreign_types)
    if (written == word) return fmt::format("did you mean `{}`?", meant);
  return did_you_mean(word, type_names());
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, " ")); }

template <class Map>
std::vector<std::string> keys(const Map& map) {
  std::vector<std::string> names;
  for (const auto& entry : map) names.push_back(entry.first);
  return names;
}

// The name that a declaration adds to the file's one space of names.
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

class ArrayDeclarer {
 public:
  ArrayDeclarer(Diagram& diagram, Names& names, const Overrides& overrides, Diagnostics& diagnostics)
      : diagram_(diagram), names_(names), overrides_(overrides), diagnostics_(diagnostics) {}

  void input(const ast::Input& input) {
    const auto type = read_type(input.type);
    const auto id = array(input.name, type, input.axes, true);
    if (!id) return;
    diagram_.inputs.push_back(*id);
    if (input.density) diagram_.at(*id).density = density(input);
  }

  void statement(const ast::Statement& statement) {
    const auto type = statement.type ? read_type(*statement.type) : Datatype::f32;
    array(statement.name, type, statement.axes, false);
  }

 private:
  std::optional<Datatype> read_type(const ast::Name& name) {
    if (const auto* row = find_datatype(name.text)) return row->type;
    const auto meant = meant_type(name.text);
    diagnostics_.add({.code = "E0205",
                      .message = fmt::format("unknown type `{}`", name.text),
                      .span = name.span,
                      .help = meant.empty() ? fmt::format("the types are {}", joined(type_names())) : meant});
    return std::nullopt;
  }

  std::optional<ArrayId> array(const ast::Name& name, std::optional<Datatype> type, const std::vector<ast::Name>& axes,
                               bool ready) {
    const ArrayId id{static_cast<std::uint32_t>(diagram_.arrays.size())};
    Array array{name.text, type.value_or(Datatype::f32), {}, std::nullopt, name.span};
    if (type && ready) array.type = overridden(array);
    const bool good = wires(axes, array) && type;
    if (!names_.arrays.emplace(name.text, ArrayEntry{id, ready, !good}).second) return std::nullopt;
    diagram_.arrays.push_back(array);
    if (good) check_array_size(diagram_, array, diagnostics_);
    return id;
  }

  bool wires(const std::vector<ast::Name>& axes, Array& array) {
    check_distinct(axes, diagnostics_);
    if (axes.size() > limits::array_axes)
      diagnostics_.add({.code = "E0605",
                        .message = fmt::format("array `{}` has more than {} axes", array.name, limits::array_axes),
                        .span = array.span});
    bool good = axes.size() <= limits::array_axes;
    for (const auto& axis : axes) {
      const auto found = names_.axes.find(axis.text);
      if (found == names_.axes.end()) {
        good = false;
        if (!names_.broken.contains(axis.text)) diagnostics_.add(unknown_axis(axis, names_.axis_names()));
        continue;
      }
      array.wires.push_back({static_cast<std::uint32_t>(diagram_.wires.size())});
      diagram_.wires.push_back({found->second, axis.text});
    }
    return good;
  }

  // `--dtype f16` means every input but masks, `--dtype K=f16` just one; the last word wins.
  Datatype overridden(const Array& array) {
    auto type = array.type;
    for (const auto& [name, given] : overrides_.types)
      if (name == array.name || (name.empty() && array.type != Datatype::boolean)) type = given;
    return type;
  }

  std::optional<double> density(const ast::Input& input) {
    const auto& expr = *input.density;
    if (input.type.text != "bool") {
      diagnostics_.add({.code = "E0218",
                        .message = fmt::format("`{}` has a density but is no mask", input.name.text),
                        .span = expr.span,
                        .others = {{input.type.span, "not `bool`"}},
                        .help = "density is the share of true entries of a bool input"});
      return std::nullopt;
    }
    if (expr.kind == ast::ExprKind::number && expr.number >= 0 && expr.number <= 1) return expr.number;
    diagnostics_.add({.code = "E0218", .message = "a density is a number from 0 to 1", .span = expr.span});
    return std::nullopt;
  }

  Diagram& diagram_;
  Names& names_;
  const Overrides& overrides_;
  Diagnostics& diagnostics_;
};

void check_type_overrides(const Overrides& overrides, const Diagram& diagram, const Names& names,
                          Diagnostics& diagnostics) {
  std::vector<std::string> inputs;
  for (const auto id : diagram.inputs) inputs.push_back(diagram.at(id).name);
  for (const auto& [name, type] : overrides.types) {
    if (name.empty() || names.broken.contains(name)) continue;
    if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) continue;
    diagnostics.add({.code = "E0502",
                     .message = fmt::format("`--dtype {}={}` names no input of the diagram", name, row(type).name),
                     .help = suggestion(name, inputs, "inputs")});
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

std::string suggestion(const std::string& name, const std::vector<std::string>& known, std::string_view what) {
  constexpr std::size_t few = 8;
  const auto meant = did_you_mean(name, known);
  if (!meant.empty() || known.empty() || known.size() > few) return meant;
  return fmt::format("the {} are `{}`", what, fmt::join(known, "`, `"));
}

Diagnostic unknown_axis(const ast::Name& name, const std::vector<std::string>& known) {
  return {.code = "E0201",
          .message = fmt::format("unknown axis `{}`", name.text),
          .span = name.span,
          .help = suggestion(name.text, known, "axes")};
}

std::string text_of(const Diagram& diagram, const Array& array) {
  std::vector<std::string> axes;
  for (const auto wire : array.wires) axes.push_back(diagram.at(diagram.at(wire).axis).name);
  return fmt::format("{}[{}]", array.name, fmt::join(axes, ", "));
}

void check_distinct(const std::vector<ast::Name>& axes, Diagnostics& diagnostics) {
  std::map<std::string_view, Span> seen;
  for (const auto& axis : axes) {
    const auto [first, fresh] = seen.emplace(axis.text, axis.span);
    if (!fresh)
      diagnostics.add({.code = "E0220",
                       .message = fmt::format("`{}` stands twice in one list", axis.text),
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
  ArrayDeclarer arrays(diagram, names, overrides, diagnostics);
  for (const auto* input : all<ast::Input>(file)) arrays.input(*input);
  for (const auto* statement : all<ast::Statement>(file)) arrays.statement(*statement);
  check_type_overrides(overrides, diagram, names, diagnostics);
  declare_defs(file, false, names);
  declare_defs(prelude, true, names);
  return names;
}

}  // namespace napkin
