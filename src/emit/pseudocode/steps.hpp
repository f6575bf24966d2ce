// A loop nest as lines of pseudocode, before they are printed as text or JSON.
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

// One line. A group or stream has an axis, the size of its pieces, and the number of pieces in a whole piece around it.
// Other lines have a variable, with the shape and bytes of one whole piece. A compute line also has its operations by
// unit.
struct PseudoStep {
  std::string kind;  // "group", "stream", "load", "ask", "compute", "save"
  std::string text;
  std::string axis, level, variable, from;
  Datatype type = Datatype::f32;
  std::int64_t size = 0, pieces = 0, bytes = 0;
  std::vector<std::string> needs{};  // for a stream: conditions; a piece is skipped if one of them holds nowhere in it
  std::vector<std::int64_t> shape;
  std::map<Unit, double> operations;
  Span span{};  // where the file declares the array of the line
  std::vector<PseudoStep> body;
};

struct Pseudocode {
  std::string outputs;
  std::vector<PseudoVariable> variables;
  std::vector<PseudoStep> steps;
};
Pseudocode pseudocode(const LoopNest&, const Hardware&);

}  // namespace napkin
