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
};
CodeNames code_names(const Diagram&);

// "n.q": the size of the wire's axis at run time.
std::string code_size(const Diagram&, const CodeNames&, WireId);
std::vector<std::string> code_sizes(const Diagram&, const CodeNames&, const std::vector<WireId>&);

}  // namespace napkin
