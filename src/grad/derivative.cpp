// Reads the derivative column of the function table as a small diagram, with the call's arguments in place of its
// inputs.
#include "grad/derivative.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace napkin::grad {
namespace {

std::string piece(std::string_view column, std::size_t i) {
  for (; i > 0; --i) {
    const auto end = column.find(';');
    if (end == std::string_view::npos) return "";
    column.remove_prefix(end + 1);
  }
  return std::string(column.substr(0, column.find(';')));
}

constexpr std::string_view letters = "abc";

// def f(a, b) = b; Y[] = f(A0[], A1[])
Diagram read(const Pointwise& function, const std::string& text) {
  std::string inputs, parameters, arguments;
  for (std::size_t i = 0; i < static_cast<std::size_t>(function.arity); ++i) {
    const bool condition = function.role == Role::choose && i == 0;
    inputs += fmt::format("input A{}: {}[]\n", i, condition ? "bool" : "f64");
    parameters += fmt::format("{}{}", i == 0 ? "" : ", ", letters[i]);
    arguments += fmt::format("{}A{}[]", i == 0 ? "" : ", ", i);
  }
  Sources sources;
  Diagnostics diagnostics;
  const auto file =
      sources.add("<derivative>", fmt::format("diagram derivative\n{}def slope({}) = {}\nY[] = slope({})\noutput Y\n",
                                              inputs, parameters, text, arguments));
  auto diagram = read_diagram(sources, file, {}, diagnostics);
  if (diagnostics.has_errors()) throw std::logic_error("the derivative of " + std::string(function.name));
  return diagram;
}

ExprId copied(Diagram& to, const Diagram& from, ExprId id, const std::vector<ExprId>& inputs) {
  auto node = from.at(id).node;
  if (const auto* access = std::get_if<Access>(&node)) return inputs.at(access->array.index);
  if (auto* apply = std::get_if<Apply>(&node))
    for (auto& argument : apply->arguments) argument = copied(to, from, argument, inputs);
  return to.intern(std::move(node));
}

}  // namespace

std::optional<ExprId> derivative(Diagram& diagram, const Apply& apply, std::size_t i) {
  const auto text = piece(apply.function->derivative, i);
  if (text.empty()) return std::nullopt;
  const auto small = read(*apply.function, text);
  return copied(diagram, small, small.statements.front().value, apply.arguments);
}

}  // namespace napkin::grad
