// A diagram as the text of a file, so that what a law found can be handed to the program.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "napkin/partition.hpp"

inline std::string nap_text(const napkin::Diagram& diagram) {
  const auto declared = [&](napkin::ArrayId id) {
    const auto& array = diagram.at(id);
    std::vector<std::string> wires;
    for (const auto wire : array.wires) wires.push_back(diagram.at(wire).name);
    return fmt::format("{}: {}[{}]", array.name, row(array.type).name, fmt::join(wires, ", "));
  };
  auto text = fmt::format("diagram {}\n", diagram.name);
  for (const auto& axis : diagram.axes) text += fmt::format("axis {} = {}\n", axis.name, axis.size.value());
  for (const auto id : diagram.inputs) text += fmt::format("input {}\n", declared(id));
  for (const auto& statement : diagram.statements)
    text += fmt::format("{} = {}\n", declared(statement.output), to_text(diagram, statement.value));
  for (const auto id : diagram.outputs) text += fmt::format("output {}\n", diagram.at(id).name);
  std::erase(text, '\'');  // which wires are which follows from where axes meet
  return text;
}

// The same with a partition, as `--partition` takes it.
inline std::string nap_text(const napkin::Diagram& diagram, const napkin::Partition& partition,
                            const napkin::Hardware& hardware) {
  return fmt::format("{}# --partition '{}'\n", nap_text(diagram), to_text(partition, diagram, hardware));
}
