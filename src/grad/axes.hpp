// Names for the wires of a statement: that of the axis, and a new axis of the same size where two of one axis meet.
#pragma once

#include "grad/backward.hpp"

namespace napkin::grad {

class AxisNames {
 public:
  explicit AxisNames(Backward& all);
  // The diagram with the wires named for this statement.
  Diagram named(const Statement&);
  // Declarations of the axes that `named` added.
  std::vector<std::string> declarations() const { return declarations_; }

 private:
  std::string name(AxisId, std::size_t which);

  Backward& all_;
  std::map<AxisId, std::vector<std::string>> names_;
  std::vector<std::string> declarations_;
};

}  // namespace napkin::grad
