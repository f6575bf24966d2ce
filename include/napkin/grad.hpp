// Gradients: from a diagram to the diagram of its gradients, in reverse mode.
//
// Every array Y that counts as a result becomes an input dY with the same axes: the gradient of some number with
// respect to Y. Every array X whose gradient is wanted becomes an output dX with the axes of X: the gradient of the
// same number with respect to X. Arrays of the diagram itself that the gradients read are computed again, unless they
// are saved.
//
// Errors, at the names in `Wanted`: E0540 (the diagram has no such name), E0541 (a result does not depend on a wanted
// array), E0542 (conditions have no gradient), E0543 (there is nothing left to save under a name).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "napkin/diagram.hpp"
#include "napkin/syntax.hpp"

namespace napkin {

struct Wanted {
  std::vector<ast::Name> of;    // results; empty: every output
  std::vector<ast::Name> wrt;   // arrays whose gradients are wanted; empty: every input that has one
  std::vector<ast::Name> save;  // statements that the forward pass keeps, or new names for logarithms of its divisors
};

struct Gradient {
  std::string text;                // the diagram, in canonical form
  std::vector<std::string> steps;  // the steps of the algebra, in words
};

// `diagram` is `file`, resolved without overrides; `command` is named in the comment at the top of the text.
std::optional<Gradient> differentiate(const Sources&, const ast::File& file, const Diagram& diagram,
                                      const Wanted& wanted, const std::string& command, Diagnostics&);

}  // namespace napkin
