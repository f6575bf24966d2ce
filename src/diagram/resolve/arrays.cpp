// Turns inputs and statements into arrays: their types, shapes and densities.
#include "diagram/resolve/arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diagram/resolve/sizes.hpp"
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
    Foreign{"e4m3", "f8e4m3"}, Foreign{"fp8", "f8e4m3"},  Foreign{"e5m2", "f8e5m2"}, Foreign{"mask", "bool"},
    Foreign{"e8m0", "f8e8m0"}, Foreign{"e2m1", "f4e2m1"}, Foreign{"fp4", "f4e2m1"},  Foreign{"int4", "i4"}};

std::string meant_type(std::string_view word) {
  for (const auto& [written, meant] : foreign_types)
    if (written == word) return std::string(meant);
  return nearest(word, type_names());
}

std::string joined(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, " ")); }

class ArrayDeclarer {
 public:
  ArrayDeclarer(Diagram& diagram, Names& names, const Overrides& overrides, Diagnostics& diagnostics)
      : diagram_(diagram), names_(names), overrides_(overrides), diagnostics_(diagnostics) {}

  void input(const ast::Input& input) {
    const auto type = read_type(input.type);
    const auto id = array(input.name, type, input.type.span, input.axes, true);
    if (!id) return;
    diagram_.inputs.push_back(*id);
    if (input.density) diagram_.at(*id).density = density(input);
  }

  void statement(const ast::Statement& statement) {
    auto type = statement.type ? read_type(*statement.type) : Datatype::f32;
    if (type && row(*type).of_inputs) {
      refuse_rounding(*type, statement.type->span, diagnostics_);
      type.reset();
    }
    array(statement.name, type, statement.type ? statement.type->span : after(statement.name.span), statement.axes,
          false);
  }

 private:
  std::optional<Datatype> read_type(const ast::Name& name) {
    if (const auto* row = find_datatype(name.text)) return row->type;
    const auto meant = meant_type(name.text);
    Diagnostic diagnostic{.code = "E0205", .message = fmt::format("unknown type `{}`", name.text), .span = name.span};
    if (meant.empty())
      diagnostic.help = fmt::format("the types are {}", joined(type_names()));
    else
      diagnostic.help = fmt::format("did you mean `{}`?", meant), diagnostic.fixes = {write_instead(name.span, meant)};
    diagnostics_.add(std::move(diagnostic));
    return std::nullopt;
  }

  std::optional<ArrayId> array(const ast::Name& name, std::optional<Datatype> type, Span typed,
                               const std::vector<ast::Name>& axes, bool ready) {
    const ArrayId id{static_cast<std::uint32_t>(diagram_.arrays.size())};
    Array array{name.text, type.value_or(Datatype::f32), {}, std::nullopt, name.span, typed};
    if (type && ready) array.type = overridden(array);
    pack(array);
    const bool good = wires(axes, array) && type && fills_bytes(array);
    if (!names_.arrays.emplace(name.text, ArrayEntry{id, ready, !good}).second) return std::nullopt;
    diagram_.arrays.push_back(array);
    if (good) check_array_size(diagram_, array, diagnostics_);
    return id;
  }

  static void pack(Array& array) {
    if (row(array.type).share == 1) return;
    array.packed = array.type;
    array.type = row(array.type).alone;
  }
  // Every row must begin with a byte of its own.
  bool fills_bytes(const Array& array) {
    const auto share = row(array.stored()).share;
    const auto last = array.wires.empty() ? std::optional<std::int64_t>(1) : diagram_.size(array.wires.back());
    if (!last || *last % share == 0) return true;
    const auto type = row(array.stored()).name;
    diagnostics_.add({.code = "E0222",
                      .message = array.wires.empty()
                                     ? fmt::format("`{}` is a single number of type {}", array.name, type)
                                     : fmt::format("rows of `{}` have {} numbers of type {}", array.name, *last, type),
                      .span = array.span,
                      .others = {{array.typed, fmt::format("{} numbers to a byte", share)}},
                      .help = array.wires.empty()
                                  ? fmt::format("give `{}` an axis, or a type of a whole byte", array.name)
                                  : fmt::format("pad axis {} to {}, or use a type of a whole byte",
                                                diagram_.at(array.wires.back()).name, *last + 1)});
    return false;
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

  // `--dtype f16` changes every input except masks, `--dtype K=f16` only one; the last option wins. A mask stays a
  // mask.
  Datatype overridden(const Array& array) {
    const auto is_mask = [](Datatype type) { return type == Datatype::boolean; };
    auto type = array.type;
    for (const auto& [name, given] : overrides_.types) {
      const bool fits = is_mask(given) == is_mask(array.type);
      if (fits && (name.empty() || name == array.name)) type = given;
      if (fits || name != array.name) continue;
      diagnostics_.add({.code = "E0502",
                        .message = fmt::format("`--dtype {}={}` makes {}", name, row(given).name,
                                               is_mask(given) ? "a mask of numbers" : "numbers of a mask"),
                        .help = "an input of type `bool` keeps its type, and no other input can get it"});
    }
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
    if (name.empty() && type == Datatype::boolean)
      diagnostics.add({.code = "E0502",
                       .message = "`--dtype bool` makes masks of numbers",
                       .help = "an input of type `bool` keeps its type, and no other input can get it"});
    if (name.empty() || names.broken.contains(name)) continue;
    if (std::find(inputs.begin(), inputs.end(), name) == inputs.end())
      diagnostics.add(with_suggestion(
          {.code = "E0502",
           .message = fmt::format("`--dtype {}={}` names no input of the diagram", name, row(type).name)},
          name, inputs, "inputs"));
  }
}

}  // namespace

void declare_arrays(const ast::File& file, const Overrides& overrides, Diagram& diagram, Names& names,
                    Diagnostics& diagnostics) {
  ArrayDeclarer arrays(diagram, names, overrides, diagnostics);
  for (const auto* input : all<ast::Input>(file)) arrays.input(*input);
  for (const auto* statement : all<ast::Statement>(file)) arrays.statement(*statement);
  check_type_overrides(overrides, diagram, names, diagnostics);
}

}  // namespace napkin
