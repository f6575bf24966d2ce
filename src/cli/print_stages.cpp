// Prints a diagram as declarations with distinct names of wires, and a program as columns inside their loops.
#include "cli/print_stages.hpp"

#include <fmt/format.h>

namespace napkin::cli {
namespace {

std::string declared(const Diagram& diagram, const Array& array) {
  std::vector<std::string> wires;
  for (const auto wire : array.wires) wires.push_back(diagram.at(wire).name);
  return fmt::format("{}: {}[{}]", array.name, row(array.stored()).name, fmt::join(wires, ", "));
}

std::string steps_text(const Program& program, const std::vector<Step>& steps, const std::string& indent) {
  std::string text;
  for (const auto& step : steps) {
    if (const auto* column = std::get_if<Column>(&step)) {
      text += fmt::format("{}{}\n", indent, to_text(program.scratch, *column));
    } else {
      const auto& loop = std::get<Loop>(step);
      text += fmt::format("{}for {}:\n", indent, program.scratch.at(loop.wire).name);
      text += steps_text(program, loop.body, indent + "  ");
    }
  }
  return text;
}

}  // namespace

std::string diagram_text(const Diagram& diagram) {
  auto text = fmt::format("diagram {}\n", diagram.name);
  for (const auto& wire : diagram.wires) {
    const auto& axis = diagram.at(wire.axis);
    const auto size = axis.size ? fmt::format(" = {}", *axis.size) : "";
    text += fmt::format("wire {}{}{}\n", wire.name, size, wire.name == axis.name ? "" : " of " + axis.name);
  }
  for (const auto id : diagram.inputs) text += fmt::format("input {}\n", declared(diagram, diagram.at(id)));
  for (const auto& statement : diagram.statements) {
    text +=
        fmt::format("{} = {}\n", declared(diagram, diagram.at(statement.output)), to_text(diagram, statement.value));
  }
  for (const auto id : diagram.outputs) text += fmt::format("output {}\n", diagram.at(id).name);
  return text;
}

std::string program_text(const Program& program) { return steps_text(program, program.steps, ""); }

}  // namespace napkin::cli
