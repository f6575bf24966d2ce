// The identifiers that the files of one plan share.
#include "emit/shared/names.hpp"

#include "emit/shared/text.hpp"

namespace napkin {

CodeNames code_names(const Diagram& diagram) {
  Identifiers pool;
  CodeNames names;
  names.diagram = pool.fresh(diagram.name);
  for (const auto& axis : diagram.axes) names.axes.push_back(pool.fresh(axis.name));
  for (const auto& array : diagram.arrays) names.arrays.push_back(pool.fresh(array.name));
  return names;
}

std::string code_size(const Diagram& diagram, const CodeNames& names, WireId wire) {
  return "n." + names.axes.at(diagram.at(wire).axis.index);
}

std::vector<std::string> code_sizes(const Diagram& diagram, const CodeNames& names, const std::vector<WireId>& wires) {
  std::vector<std::string> all;
  for (const auto wire : wires) all.push_back(code_size(diagram, names, wire));
  return all;
}

}  // namespace napkin
