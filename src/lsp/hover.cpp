// Explains a name: shape, type, wires and bytes of an array, and, on a machine, where the plan holds it.
#include <fmt/format.h>

#include <algorithm>

#include "lsp/session.hpp"
#include "text/quantity.hpp"

namespace napkin::lsp {
namespace {

// Encloses a text in a fence longer than any in the text, so that it is shown verbatim and never as markup.
std::string code(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fmt::format("{0}nap\n{1}\n{0}", fence, text);
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

// A declaration with the comment after it and those on the lines directly above.
Span with_comments(std::string_view text, const std::vector<ast::Comment>& comments, Span declared) {
  const auto between = [&](std::uint32_t begin, std::uint32_t end) { return text.substr(begin, end - begin); };
  for (const auto& comment : comments)
    if (comment.span.begin >= declared.end && is_blank(between(declared.end, comment.span.begin)))
      declared.end = comment.span.end;
  for (auto comment = comments.rbegin(); comment != comments.rend(); ++comment) {
    if (comment->span.begin >= declared.begin) continue;
    const auto line = text.rfind('\n', comment->span.begin) + 1;  // npos + 1 is the beginning
    const auto gap = between(comment->span.end, declared.begin);
    const bool right_above = !gap.empty() && is_blank(gap.substr(gap.find('\n') + 1)) && gap.find('\n') != gap.npos;
    if (!right_above || !is_blank(text.substr(line, comment->span.begin - line))) break;
    declared.begin = comment->span.begin;
  }
  return declared;
}

// The declaration of a name as written, with its comments.
std::string declared_text(const Reading& reading, const ast::File& file, Span name) {
  const auto& text = reading.sources.at(file.file).text;
  for (const auto& declared : file.declarations) {
    if (declared.span.begin > name.begin || declared.span.end < name.end) continue;
    const auto span = with_comments(text, file.comments, declared.span);
    return code(text.substr(span.begin, span.end - span.begin));
  }
  return "";
}

// ---- arrays and axes, as the diagram knows them ----

const Array* find_array(const Diagram& diagram, std::string_view name) {
  const auto found = std::ranges::find(diagram.arrays, name, &Array::name);
  return found == diagram.arrays.end() ? nullptr : &*found;
}

std::string length(const std::optional<std::int64_t>& size) { return size ? std::to_string(*size) : "?"; }

std::string shape(const Diagram& diagram, const Array& array) {
  std::vector<std::string> sizes;
  for (const auto wire : array.wires) sizes.push_back(length(diagram.size(wire)));
  return sizes.empty() ? "one value" : joined(sizes, " x ");
}

// None if an axis has no size, or if the number overflows.
std::optional<std::int64_t> bytes(const Diagram& diagram, const Array& array) {
  const auto& type = row(array.stored());
  std::int64_t all = type.bytes;
  for (const auto wire : array.wires) {
    const auto size = diagram.size(wire);
    if (!size || __builtin_mul_overflow(all, *size, &all)) return std::nullopt;
  }
  return bytes_of(type.type, all / type.bytes);
}

std::string wires(const Reading& reading, const Array& array) {
  std::vector<std::string> names;
  for (const auto wire : array.wires) names.push_back(fmt::format("`{}`", reading.diagram.at(wire).name));
  return names.empty() || !reading.resolved ? "" : "; wires " + joined(names, ", ");
}

std::string array_text(const Reading& reading, const Array& array) {
  const auto size = bytes(reading.diagram, array);
  return fmt::format("shape {}; type `{}`{}; {}", shape(reading.diagram, array), row(array.stored()).name,
                     wires(reading, array),
                     size ? held(static_cast<double>(*size)) : "bytes depend on axes without a size");
}

// The text for an axis: its length and its wires, the one at the cursor first.
std::string axis_text(const Reading& reading, const Axis& axis, const Occurrence& at) {
  std::vector<std::string> names;
  for (const auto& wire : reading.diagram.wires)
    if (reading.diagram.at(wire.axis).name == axis.name) names.push_back(fmt::format("`{}`", wire.name));
  auto text = axis.size ? fmt::format("{} positions", *axis.size) : std::string("no size: numbers need `--set`");
  if (!reading.resolved || names.empty()) return text;
  text += fmt::format("; wire{} {}", names.size() == 1 ? "" : "s", joined(names, ", "));
  const auto* array = at.array.empty() ? nullptr : find_array(reading.diagram, at.array);
  if (names.size() == 1 || !array || at.dimension >= array->wires.size()) return text;
  const auto& here = reading.diagram.at(array->wires[at.dimension]);
  return reading.diagram.at(here.axis).name == axis.name ? text + fmt::format("; here `{}`", here.name) : text;
}

// ---- the plan ----

std::string plan_text(State& state, Document& open, const Array& array) {
  if (!state.target || !open.reading.resolved) return "";
  auto* plan = planning(state, open);
  if (!plan) return fmt::format("\n\na plan on `{}` needs the sizes of all axes", state.target->name);
  return "\n\n" + on_plan(*plan, array.name);
}

std::string file_text(State& state, Document& open, const Occurrence& at, const Symbol& found) {
  const auto& reading = open.reading;
  const auto declared = declaration(reading.syntax, found);
  if (!declared) return "";
  auto text = declared_text(reading, reading.syntax, declared->span);
  const auto axis = std::ranges::find(reading.diagram.axes, found.text, &Axis::name);
  if (axis != reading.diagram.axes.end()) return text + "\n\n" + axis_text(reading, *axis, at);
  if (const auto* array = find_array(reading.diagram, found.text))
    return text + "\n\n" + array_text(reading, *array) + plan_text(state, open, *array);
  return text;
}

std::string prelude_text_of(const Reading& reading, std::string_view name) {
  for (const auto& each : occurrences(reading.prelude))
    if (each.declares && each.role == Role::function && each.text == name)
      return declared_text(reading, reading.prelude, each.span);
  return "";
}

std::string language_text(std::string_view name) {
  if (const auto* type = find_datatype(name))
    return fmt::format("`{}`: {} byte{}", name, type->bytes, type->bytes == 1 ? "" : "s");
  std::vector<std::string> said;
  if (const auto* reduction = find_reduction(name))
    said.push_back(fmt::format("`{}[x](e)`: {} along x", name, reduction->summary));
  if (const auto* function = find_pointwise(name))
    said.push_back(fmt::format("`{}({})`: {}", name,
                               function->arity == 1   ? "e"
                               : function->arity == 2 ? "a, b"
                                                      : "c, a, b",
                               function->summary));
  if (name == "size") said.emplace_back("`size(x)`: the size of an axis");
  return joined(said, "\n\n");
}

std::string machine_text(const State& state, const Occurrence& at) {
  const auto level = state.target ? state.target->level(std::string(at.text)) : std::nullopt;
  if (at.role != Role::level || !level) return "";
  const auto& memory = state.target->levels[*level];
  if (!memory.capacity && !memory.usable) return "";
  return fmt::format("`{}` of `{}`: {} for each {}", memory.name, state.target->name,
                     memory.in_values ? counted(memory.room()) + " values" : held(memory.room()), memory.unit);
}

std::string text_of(State& state, Document& open, const Occurrence& at) {
  const auto found = symbol(open.reading.syntax, at);
  switch (found.space) {
    case Space::file:
      return file_text(state, open, at, found);
    case Space::def:
      return fmt::format("{} of\n\n{}", at.role == Role::parameter ? "parameter" : "axis",
                         declared_text(open.reading, open.reading.syntax, found.def->name.span));
    case Space::prelude:
      return prelude_text_of(open.reading, found.text);
    case Space::language:
      return language_text(found.text);
    case Space::machine:
      return machine_text(state, at);
    case Space::partitions:
    case Space::diagram:
      return "";
  }
  return "";
}

}  // namespace

Json hover(State& state, const Json& params) {
  auto& open = document(state, params);
  const auto at = named(open, params);
  const auto text = at ? text_of(state, open, *at) : "";
  if (text.empty()) return nullptr;
  return {{"contents", markdown(text)}, {"range", range(open.reading, at->span)}};
}

}  // namespace napkin::lsp
