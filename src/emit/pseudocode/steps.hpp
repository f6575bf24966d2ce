// A loop nest as the lines of pseudocode, before they are text or JSON.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "napkin/loops.hpp"

namespace napkin {

struct PseudoVariable {
  std::string name, array, level;
  Datatype type = Datatype::f32;
  std::vector<std::int64_t> shape;
  std::int64_t bytes = 0;
};

// One line. A group or stream has an axis, the size of its pieces and how many a whole piece around them has; the
// others a variable with shape and bytes of one whole piece; a compute its operations by unit.
struct PseudoStep {
  std::string kind;  // "group", "stream", "load", "ask", "compute", "save"
  std::string text;
  std::string axis, level, variable, from;
  Datatype type = Datatype::f32;
  std::int64_t size = 0, pieces = 0, bytes = 0;
  std::vector<std::string> needs{};  // of a stream: conditions; pieces on which one holds nowhere are passed over
  std::vector<std::int64_t> shape;
  std::map<Unit, double> operations;
  Span span{};  // where the file declares the array that it loads, computes or saves
  std::vector<PseudoStep> body;
};

struct Pseudocode {
  std::string outputs;
  std::vector<PseudoVariable> variables;
  std::vector<PseudoStep> steps;
};
Pseudocode pseudocode(const LoopNest&, const Hardware&);

}  // namespace napkin
