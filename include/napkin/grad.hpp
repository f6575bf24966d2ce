// Gradients: a diagram to the diagram of its gradients, in reverse mode.
//
// Every array Y that counts as a result becomes an input dY of the same axes: the gradient of some number with respect
// to Y. Every array X that is asked for becomes an output dX of X's axes: the gradient of the same number with respect
// to X. What the gradients read of the diagram itself is computed again, unless it is saved.
//
// Errors, at the names that were asked for: E0540 (a name that the diagram lacks), E0541 (a result that does not depend
// on what is asked for), E0542 (conditions have no gradient), E0543 (a name that nothing is left to be saved under).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "napkin/diagram.hpp"
#include "napkin/syntax.hpp"

namespace napkin {

struct Wanted {
  std::vector<ast::Name> of;    // results; empty: every output
  std::vector<ast::Name> wrt;   // what gradients are taken with respect to; empty: every input that has one
  std::vector<ast::Name> save;  // statements that the forward pass keeps, or new names for logarithms of its divisors
};

struct Gradient {
  std::string text;                // the diagram, in canonical form
  std::vector<std::string> steps;  // what the algebra found, in words
};

// `diagram` is `file`, resolved without overrides; `command` is named in the comment at the top of the text.
std::optional<Gradient> differentiate(const Sources&, const ast::File& file, const Diagram& diagram,
                                      const Wanted& wanted, const std::string& command, Diagnostics&);

}  // namespace napkin
