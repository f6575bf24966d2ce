// The identifiers that the files of one plan share.
#pragma once

#include <string>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// Identifiers shared by kernels, launcher and harness.
struct CodeNames {
  std::string diagram;              // prefix of every public name
  std::vector<std::string> axes;    // by AxisId
  std::vector<std::string> arrays;  // by ArrayId of the diagram
  // "n.q": the size of an axis, known at run time.
  std::string size(AxisId axis) const { return "n." + axes.at(axis.index); }
};
CodeNames code_names(const Diagram&);

// The size of the wire's axis.
std::string code_size(const Diagram&, const CodeNames&, WireId);
// The offset of a number in the array, from its place by dimension.
std::string code_place(const Diagram&, const CodeNames&, ArrayId, const std::vector<std::string>& at);
// The stride of a dimension, as factors; none for 1.
std::vector<std::string> code_step(const Diagram&, const CodeNames&, ArrayId, std::size_t dimension);

}  // namespace napkin
