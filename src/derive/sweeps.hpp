// A statement that needs several sweeps over an axis: each sweep a statement.
#pragma once

#include <string>
#include <vector>

#include "napkin/diagram.hpp"

namespace napkin {

// What keeps an axis and also reduces over it needs all of it before the first of its values is known. Its reductions
// over that axis become statements of their own in front of it, so that a cut may give each sweep a kernel.
struct Sweeps {
  struct Statement {
    std::string name;                 // of its array
    std::vector<std::string> before;  // of the arrays that were reductions inside it
  };
  Diagram diagram;
  std::vector<Statement> statements;  // empty: none needs several sweeps, and the diagram is the same
};
Sweeps sweeps(const Diagram&);

}  // namespace napkin
